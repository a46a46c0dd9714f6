import { expect, it } from 'vitest';
import { QuiverError } from '@quiver/core';
import { deserializeError, serializeError } from './messages.js';

const sent = (error: unknown): unknown => deserializeError(structuredClone(serializeError(error)));

it('returns an error with its class, name, code, details and causes', () => {
  const cause = Object.assign(new TypeError('closed'), { code: 'ECONNRESET' });
  const error = sent(new QuiverError('DOCUMENT_UNREADABLE', 'broken', { cause, details: { name: 'a.pdf' } }));
  expect(error).toBeInstanceOf(QuiverError);
  expect(error).toMatchObject({ code: 'DOCUMENT_UNREADABLE', message: 'broken', details: { name: 'a.pdf' } });
  expect((error as Error).cause).toMatchObject({ name: 'TypeError', message: 'closed', code: 'ECONNRESET' });
});

it('returns what is not an error as one', () => {
  expect(sent('broken')).toMatchObject({ name: 'Error', message: 'broken' });
});

it('ends causes that lead to themselves', () => {
  const error = new Error('first');
  error.cause = new Error('second', { cause: error });
  expect(sent(error)).toMatchObject({ message: 'first', cause: { message: 'second', cause: { message: 'first' } } });
});
