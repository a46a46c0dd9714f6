import {
  dereference,
  validate as validateWithLookup,
  type OutputUnit,
  type Schema as CfworkerSchema,
  type SchemaDraft,
} from '@cfworker/json-schema';
import { isQuiverError, QuiverError, toErrorMessage } from '../errors.js';
import type { JsonSchema, ValidationResult } from './schema.js';

interface CompiledSchema {
  /** A copy of the user's: the validator writes addresses into it, and what it wrote into a shared part would hold for one only. */
  readonly schema: CfworkerSchema;
  readonly draft: SchemaDraft;
  /** Every subschema by its address. */
  readonly lookup: Record<string, CfworkerSchema | boolean>;
  readonly hasReferences: boolean;
}

const compiledSchemas = new WeakMap<JsonSchema, CompiledSchema>();

/** References followed in one validation; a few lines of nested `allOf` and `$ref` can ask for billions. */
const maxReferences = 1_000_000;

/**
 * Checks a value against JSON Schema without generating code, so it also runs where `new Function` is forbidden.
 * References to other documents are never fetched. Properties that hold `undefined` count as absent, dates as their text.
 *
 * @throws `SCHEMA_INVALID` when the schema itself cannot be used, for example because of an unresolved `$ref`
 * @throws `SCHEMA_TOO_COMPLEX` when the check would follow more than a million references
 */
export function validateJsonSchema(schema: JsonSchema, value: unknown): ValidationResult<unknown> {
  let errors: readonly OutputUnit[];
  try {
    errors = run(schema, value);
  } catch (error) {
    if (isQuiverError(error)) throw error;
    if (error instanceof URIError) return refuse('A key of the value is not well-formed Unicode.');
    // Either the value holds something that is not JSON, or the schema is broken: the same value as pure JSON tells which.
    const json = toJson(value);
    if (json === undefined) return refuse('The value cannot be written as JSON.');
    try {
      errors = run(schema, JSON.parse(json));
    } catch (error) {
      if (error instanceof RangeError)
        return refuse('The value is nested too deeply, or the schema refers to itself without end.');
      throw invalidSchema(error);
    }
  }
  if (errors.length === 0) return { ok: true, value };
  // The validator reports every enclosing keyword too; the reasons are the errors that no other error contains.
  const reasons = errors.filter((error) => !wrappers.has(error.keyword));
  return {
    ok: false,
    issues: (reasons.length > 0 ? reasons : errors).map((error) => ({
      path: parsePointer(error.instanceLocation),
      message: error.error,
    })),
  };
}

/** What the validator cannot look at, as a value that does not fit. */
function refuse(message: string): ValidationResult<unknown> {
  return { ok: false, issues: [{ path: [], message }] };
}

function run(schema: JsonSchema, value: unknown): readonly OutputUnit[] {
  let compiled = compiledSchemas.get(schema);
  if (!compiled) {
    compiled = compile(schema);
    compiledSchemas.set(schema, compiled);
  }
  const { schema: copy, draft, lookup, hasReferences } = compiled;
  const result = validateWithLookup(value, copy, draft, hasReferences ? countReferences(lookup) : lookup, false);
  return result.valid ? [] : result.errors;
}

function compile(schema: JsonSchema): CompiledSchema {
  try {
    const copy = copyOf(schema) as CfworkerSchema;
    const lookup = dereference(copy);
    const hasReferences = /"\$(?:recursiveR|dynamicR|r)ef"/.test(JSON.stringify(schema));
    return { schema: copy, draft: draftOf(schema), lookup, hasReferences };
  } catch (error) {
    throw invalidSchema(error);
  }
}

/** Not through JSON, which has no infinite bounds. A schema that contains itself ends in a RangeError. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part)]));
}

function invalidSchema(cause: unknown): QuiverError {
  return new QuiverError('SCHEMA_INVALID', `The JSON Schema cannot be used for validation: ${toErrorMessage(cause)}`, {
    cause,
  });
}

function countReferences(lookup: CompiledSchema['lookup']): CompiledSchema['lookup'] {
  let followed = 0;
  return new Proxy(lookup, {
    get(target, address) {
      followed += 1;
      if (followed <= maxReferences) return target[address as string];
      throw new QuiverError(
        'SCHEMA_TOO_COMPLEX',
        `The JSON Schema refers to itself more than ${maxReferences} times for one value. Simplify its $ref.`,
      );
    },
  });
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Keywords that only say "something below is wrong". */
const wrappers: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'items',
  'prefixItems',
  'allOf',
  'if',
  '$ref',
]);

function draftOf(schema: JsonSchema): SchemaDraft {
  const dialect = schema['$schema'];
  if (typeof dialect !== 'string') return '2020-12';
  if (dialect.includes('draft-07') || dialect.includes('draft-06')) return '7';
  if (dialect.includes('draft-04')) return '4';
  return dialect.includes('2019-09') ? '2019-09' : '2020-12';
}

/** `#/tags/0` → `['tags', 0]`. @see [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901.html) */
function parsePointer(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => {
      const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
      return /^(0|[1-9]\d*)$/.test(key) ? Number(key) : key;
    });
}
