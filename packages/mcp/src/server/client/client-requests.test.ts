import { expect, test } from 'vitest';
import { elicitationRequest } from './client-requests.js';

const formOf = (properties: unknown): never => ({ type: 'object', properties }) as never;
const send = (requestedSchema: never): unknown => elicitationRequest({ message: 'Well?', requestedSchema });

test('accepts every field that the protocol defines', () => {
  const titled = [{ const: 'a', title: 'A' }];
  const fields = {
    text: { type: 'string', format: 'email', minLength: 1, default: 'a@b.c' },
    number: { type: 'number', minimum: 0 },
    integer: { type: 'integer' },
    flag: { type: 'boolean' },
    choice: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
    titledChoice: { type: 'string', oneOf: titled },
    choices: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 },
    titledChoices: { type: 'array', items: { anyOf: titled } },
  };
  expect(send(formOf(fields))).toMatchObject({ params: { requestedSchema: { properties: fields } } });
  expect(() => send(formOf({}))).not.toThrow();
});

test.each([
  [{ address: { type: 'object', properties: { street: { type: 'string' } } } }, 'requestedSchema.properties.address'],
  [{ name: { type: 'string' }, any: {} }, 'requestedSchema.properties.any'],
  [{ name: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, 'requestedSchema.properties.name'],
  [{ name: { type: ['string', 'null'] } }, 'requestedSchema.properties.name'],
  [{ name: 'string' }, 'requestedSchema.properties.name'],
  [{ tags: { type: 'array', items: { type: 'string' } } }, 'requestedSchema.properties.tags.items'],
  [{ rows: { type: 'array', items: { type: 'object', properties: {} } } }, 'requestedSchema.properties.rows.items'],
  [{ rows: { type: 'array', items: { anyOf: [{ type: 'object' }, null] } } }, 'requestedSchema.properties.rows.items'],
  [undefined, 'requestedSchema.properties'],
  [[], 'requestedSchema.properties'],
])('refuses the fields %j and names %s', (properties, path) => {
  const error = expect.objectContaining({
    code: 'ELICITATION_SCHEMA_INVALID',
    message: expect.stringContaining(path),
    details: { path },
  });
  expect(() => send(formOf(properties))).toThrow(error);
});

test.each([undefined, null, { type: 'string' }, { properties: {} }])('refuses %j as a schema', (schema) => {
  expect(() => send(schema as never)).toThrow(expect.objectContaining({ code: 'ELICITATION_SCHEMA_INVALID' }));
});
