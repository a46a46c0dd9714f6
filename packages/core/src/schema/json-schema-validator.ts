import { QuiverError } from '../errors.js';
import { booleanValue, checkOptions, type OptionChecks } from '../options.js';
import { invalidSchema, isSchemaNode, SchemaIndex, type SchemaNode } from './json-schema-index.js';
import {
  canContinue,
  charactersPerStep,
  fail,
  isText,
  keywords,
  type Application,
  type Assertion,
  type Evaluated,
  type Issues,
  type Path,
  type Run,
} from './json-schema-keywords.js';
import type { JsonSchema, SchemaIssue, ValidationResult } from './schema.js';

/** Options of {@link validateJsonSchema}. */
export interface JsonSchemaOptions {
  /**
   * Whether `pattern` and `patternProperties` are checked. Default `true`. A hostile pattern can take exponential time, so the
   * patterns of untrusted schemas must not be used; properties that a pattern may allow are then accepted.
   */
  checkPatterns?: boolean;
}

const optionChecks: OptionChecks<JsonSchemaOptions> = { checkPatterns: booleanValue };

/**
 * Checks a value against JSON Schema without generating code, so it also runs where `new Function` is forbidden.
 * References to other documents are never fetched. Properties that hold `undefined` count as absent; values with `toJSON`, such as
 * dates, as their JSON form.
 *
 * The work is bounded: 60,000 steps, about 50 ms, and four for each part of a larger value, about as long as
 * its parsing takes. A step is one schema applied to one value, or a comparable amount of work inside it.
 *
 * @throws `OPTIONS_INVALID`
 * @throws `SCHEMA_INVALID` when the schema itself cannot be used, for example because of an unresolved `$ref`
 * @throws `SCHEMA_TOO_COMPLEX` when the check would take more steps
 * @example
 * validateJsonSchema({ type: 'number', minimum: 1 }, 0); // { ok: false, issues: [{ path: [], message: 'Expected at least 1.' }] }
 */
export function validateJsonSchema(
  schema: JsonSchema,
  value: unknown,
  options?: JsonSchemaOptions,
): ValidationResult<unknown> {
  // Most calls have none: every call of a tool with JSON Schema.
  if (options !== undefined) checkOptions('validateJsonSchema', options, optionChecks);
  const { checkPatterns = true } = options ?? {};
  const compiled = getOrCreate(compiledSchemas, schema, () => new CompiledSchema(schema));
  const issues: SchemaIssue[] = [];
  try {
    const isValid = new Validation(compiled, value, checkPatterns).check(schema, value, undefined, issues);
    return isValid ? { ok: true, value } : { ok: false, issues };
  } catch (error) {
    if (error instanceof NotJsonError) return refuse(error.message);
    if (error instanceof RangeError)
      return refuse('The value is nested too deeply, or the schema refers to itself without end.');
    throw error;
  }
}

const maxSteps = 60_000;
const stepsPerPart = 4;
/** Parts of a value that are counted. */
const maxParts = 10_000_000;

class NotJsonError extends TypeError {}

function refuse(message: string): ValidationResult<unknown> {
  return { ok: false, issues: [{ path: [], message }] };
}

/** The state of one check of a value. */
class Validation implements Run {
  readonly schema: CompiledSchema;
  readonly checkPatterns: boolean;
  /** Base URIs of the schemas that are being checked, outermost first. */
  readonly scope: string[] = [];
  readonly #root: unknown;
  #steps = maxSteps;
  #isExtended = false;

  constructor(schema: CompiledSchema, root: unknown, checkPatterns: boolean) {
    this.schema = schema;
    this.#root = root;
    this.checkPatterns = checkPatterns;
  }

  check(schema: unknown, given: unknown, path?: Path, issues?: Issues, outer?: Evaluated): boolean {
    this.spend(1);
    if (schema === true) return true;
    const evaluated: Evaluated | undefined = this.schema.hasUnevaluated ? new Set() : undefined;
    const value = toJsonValue(given);
    const at: Application = { run: this, schema: schema as SchemaNode, value, path, issues, evaluated };
    if (schema === false) return fail(at, 'No value is allowed here.');
    const isDynamic = this.schema.hasDynamicReferences;
    if (isDynamic) this.scope.push(this.schema.baseOf(at.schema));
    let ok = true;
    for (const { check, operand, isLast } of this.schema.assertionsOf(at.schema)) {
      if (!ok && (isLast || !canContinue(issues))) break;
      ok = check(operand, at) && ok;
    }
    if (isDynamic) this.scope.pop();
    if (!ok || !evaluated || !outer) return ok;
    this.spend(evaluated.size);
    for (const key of evaluated) outer.add(key);
    return true;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0 && !this.#isExtended) {
      this.#isExtended = true;
      this.#steps += stepsPerPart * countParts(this.#root);
    }
    if (this.#steps >= 0) return;
    throw new QuiverError(
      'SCHEMA_TOO_COMPLEX',
      `The check of the value against its JSON Schema takes more than ${maxSteps} steps. Simplify the schema: fewer branches of anyOf and oneOf, fewer references, or a smaller value.`,
    );
  }

  /** Returns text that two values share exactly when they are equal as JSON. */
  canonical(given: unknown): string {
    const value = toJsonValue(given);
    this.spend(typeof value === 'string' ? 1 + value.length / charactersPerStep : 1);
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map((item) => this.canonical(item ?? null)).join(',')}]`;
    const entries = Object.entries(value).filter(([, part]) => part !== undefined);
    const texts = entries.map(([key, part]) => {
      this.spend(key.length / charactersPerStep);
      return `${JSON.stringify(key)}:${this.canonical(part)}`;
    });
    return `{${texts.toSorted().join(',')}}`;
  }

  matches(pattern: string, text: string): boolean {
    this.spend(1 + text.length / charactersPerStep);
    return !this.checkPatterns || this.schema.patternOf(pattern).test(text);
  }
}

/** A schema with the shared data of its checks, prepared on demand. */
class CompiledSchema extends SchemaIndex {
  readonly #assertions = new Map<SchemaNode, readonly Assertion[]>();
  readonly #patterns = new Map<string, RegExp>();
  readonly #texts = new Map<object, ReadonlySet<string>>();

  /** @throws `SCHEMA_INVALID` for a value that is not a schema object */
  assertionsOf(schema: SchemaNode): readonly Assertion[] {
    return getOrCreate(this.#assertions, schema, () => {
      if (!isSchemaNode(schema)) throw invalidSchema(new TypeError('a schema must be an object or a boolean'));
      const names = this.isRefExclusive && isText(schema['$ref']) ? ['$ref'] : Object.keys(schema);
      const assertions = names.flatMap((name) => {
        const keyword = keywords.get(name);
        return keyword?.isOperand(schema[name]) ? [{ ...keyword, operand: schema[name] as never }] : [];
      });
      return assertions.toSorted((a, b) => Number(a.isLast) - Number(b.isLast));
    });
  }

  patternOf(source: string): RegExp {
    return getOrCreate(this.#patterns, source, () => {
      try {
        return new RegExp(source, 'u');
      } catch (error) {
        throw invalidSchema(error);
      }
    });
  }

  /** Returns the canonical texts of the allowed values of `enum` or `const`. */
  textsOf(key: object, create: () => ReadonlySet<string>): ReadonlySet<string> {
    return getOrCreate(this.#texts, key, create);
  }
}

function getOrCreate<Key, Value extends object>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  create: () => Value,
): Value {
  let value = map.get(key);
  if (!value) map.set(key, (value = create()));
  return value;
}

/** Bounded by the lifetime of the schemas: one entry per schema object. */
const compiledSchemas = new WeakMap<JsonSchema, CompiledSchema>();

function toJsonValue(value: unknown): unknown {
  if (typeof value === 'object') {
    const { toJSON } = (value ?? {}) as { toJSON?: unknown };
    return typeof toJSON === 'function' ? (toJSON.call(value) as unknown) : value;
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new NotJsonError('The value cannot be written as JSON.');
}

/** Counts the parts of a value, up to a limit that also ends cycles. */
function countParts(root: unknown): number {
  const waiting = [root];
  let count = 0;
  while (waiting.length > 0 && count < maxParts) {
    const value = waiting.pop();
    count += typeof value === 'string' ? 1 + value.length / charactersPerStep : 1;
    if (Array.isArray(value)) for (const part of value as unknown[]) waiting.push(part);
    else if (typeof value === 'object' && value !== null)
      for (const key in value) waiting.push((value as Record<string, unknown>)[key]);
  }
  return count;
}
