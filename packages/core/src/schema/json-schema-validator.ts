import { QuiverError } from '../errors.js';
import {
  indexSchema,
  invalidSchema,
  isSchemaNode,
  keywordGroups,
  type SchemaIndex,
  type SchemaNode,
} from './json-schema-index.js';
import type { JsonSchema, SchemaIssue, ValidationResult } from './schema.js';
import { stringFormats } from './string-formats.js';

export interface JsonSchemaOptions {
  /**
   * Whether `pattern` and `patternProperties` are checked. Default `true`. A hostile pattern can take exponential time, so the
   * patterns of untrusted schemas must not be used; properties that a pattern may allow are then accepted.
   */
  checkPatterns?: boolean;
}

/**
 * Checks a value against JSON Schema without generating code, so it also runs where `new Function` is forbidden.
 * References to other documents are never fetched. Properties that hold `undefined` count as absent; values with `toJSON`, such as
 * dates, as their JSON form.
 *
 * The work is bounded: 60,000 steps, about 50 ms, and three for each part of a larger value, about as long as
 * its parsing takes. A step is one schema applied to one
 * value, or a comparable amount of work inside it.
 *
 * @throws `SCHEMA_INVALID` when the schema itself cannot be used, for example because of an unresolved `$ref`
 * @throws `SCHEMA_TOO_COMPLEX` when the check would take more steps
 */
export function validateJsonSchema(
  schema: JsonSchema,
  value: unknown,
  options: JsonSchemaOptions = {},
): ValidationResult<unknown> {
  const validation = new Validation(indexSchema(schema), value, options);
  const issues: SchemaIssue[] = [];
  try {
    return validation.check(schema, value, undefined, issues) ? { ok: true, value } : { ok: false, issues };
  } catch (error) {
    if (error instanceof NotJsonError) return refuse(error.message);
    if (error instanceof RangeError)
      return refuse('The value is nested too deeply, or the schema refers to itself without end.');
    throw error;
  }
}

const maxSteps = 60_000;
const stepsPerPart = 3;
/** Parts of a value that are counted. */
const maxParts = 10_000_000;
/** Issues that are collected; a large value may have one in each of its parts. */
const maxIssues = 100;
/** Branches of `anyOf` and `oneOf` up to which an issue says why each one does not match. */
const maxExplainedBranches = 10;
/** Characters that count as one step. */
const charactersPerStep = 64;

class NotJsonError extends TypeError {}

function refuse(message: string): ValidationResult<unknown> {
  return { ok: false, issues: [{ path: [], message }] };
}

/** Path from the root to a part of the value, as a linked list that branches share. */
type Path = { readonly parent: Path; readonly key: string | number } | undefined;

/** `undefined` when only the outcome matters. */
type Issues = SchemaIssue[] | undefined;

/** Properties and items that a schema and its in-place subschemas have evaluated. */
type Evaluated = Set<string | number>;

class Validation {
  readonly #index: SchemaIndex;
  readonly #root: unknown;
  readonly #checkPatterns: boolean;
  readonly #patterns = new Map<string, RegExp>();
  readonly #enums = new Map<unknown, { readonly keys: ReadonlySet<string>; readonly text: string }>();
  /** Base URIs of the schemas that are being checked, outermost first. */
  readonly #scope: string[] = [];
  #steps = maxSteps;
  #isExtended = false;

  constructor(index: SchemaIndex, root: unknown, { checkPatterns = true }: JsonSchemaOptions) {
    this.#index = index;
    this.#root = root;
    this.#checkPatterns = checkPatterns;
  }

  check(schema: unknown, given: unknown, path: Path, issues: Issues, outer?: Evaluated): boolean {
    this.#spend(1);
    if (schema === true) return true;
    if (schema === false) return fail(issues, path, 'No value is allowed here.');
    if (!isSchemaNode(schema)) throw invalidSchema(new TypeError('a schema must be an object or a boolean'));
    if (!this.#index.hasDynamicReferences) return this.#checkNode(schema, toJsonValue(given), path, issues, outer);
    this.#scope.push(this.#index.baseOf(schema));
    const ok = this.#checkNode(schema, toJsonValue(given), path, issues, outer);
    this.#scope.pop();
    return ok;
  }

  #checkNode(schema: SchemaNode, value: unknown, path: Path, issues: Issues, outer?: Evaluated): boolean {
    const evaluated: Evaluated | undefined = this.#index.hasUnevaluated ? new Set() : undefined;
    const groups = this.#index.groupsOf(schema);
    const { $ref } = schema;
    let ok = true;
    if (typeof $ref === 'string') {
      ok = this.check(this.#index.resolve(schema, $ref), value, path, issues, evaluated);
      if (this.#index.isRefExclusive) return ok;
    }
    if (groups & keywordGroups.value && (ok || issues)) ok = this.#checkValue(schema, value, path, issues) && ok;
    if (ok || issues) ok = this.#checkParts(groups, schema, value, path, issues, evaluated) && ok;
    if (groups & keywordGroups.inPlace && (ok || issues))
      ok = this.#checkInPlace(schema, value, path, issues, evaluated) && ok;
    if (!ok || !evaluated) return ok;
    if (groups & keywordGroups.unevaluated) ok = this.#checkUnevaluated(schema, value, path, issues, evaluated);
    if (!ok || !outer) return ok;
    this.#spend(evaluated.size);
    for (const key of evaluated) outer.add(key);
    return true;
  }

  #checkParts(
    groups: number,
    schema: SchemaNode,
    value: unknown,
    path: Path,
    issues: Issues,
    evaluated?: Evaluated,
  ): boolean {
    switch (typeof value) {
      case 'string':
        return !(groups & keywordGroups.string) || this.#checkString(schema, value, path, issues);
      case 'number':
        return !(groups & keywordGroups.number) || checkNumber(schema, value, path, issues);
      case 'object':
        if (value === null) return true;
        if (Array.isArray(value))
          return !(groups & keywordGroups.array) || this.#checkArray(schema, value, path, issues, evaluated);
        if (!(groups & keywordGroups.object)) return true;
        return this.#checkObject(schema, value as Record<string, unknown>, path, issues, evaluated);
      default:
        return true;
    }
  }

  #checkValue(schema: SchemaNode, value: unknown, path: Path, issues: Issues): boolean {
    const { type, enum: allowed } = schema;
    if (type !== undefined) {
      const types = Array.isArray(type) ? (type as unknown[]) : [type];
      if (!types.some((name) => hasType(value, name)))
        return fail(issues, path, `Expected ${types.join(' or ')}, received ${typeOf(value)}.`);
    }
    if (Array.isArray(allowed) && !this.#isOneOf(allowed, allowed, value)) {
      return fail(issues, path, `Expected one of ${this.#enums.get(allowed)?.text}.`);
    }
    if ('const' in schema && !this.#isOneOf(schema, [schema['const']], value)) {
      return fail(issues, path, `Expected ${this.#enums.get(schema)?.text}.`);
    }
    return true;
  }

  /** Compares with all allowed values at once, by their canonical text. */
  #isOneOf(key: unknown, allowed: readonly unknown[], value: unknown): boolean {
    let known = this.#enums.get(key);
    if (!known) {
      const keys = new Set(allowed.map((item) => this.#canonical(item)));
      const text = [...keys].slice(0, 10).join(', ').slice(0, 200);
      known = { keys, text: keys.size > 10 ? `${text}, … (${keys.size} values)` : text };
      this.#enums.set(key, known);
    }
    return known.keys.has(this.#canonical(value));
  }

  /** Text that two values share exactly when they are equal as JSON. */
  #canonical(given: unknown): string {
    const value = toJsonValue(given);
    this.#spend(1);
    if (typeof value === 'string') {
      this.#spend(value.length / charactersPerStep);
      return JSON.stringify(value);
    }
    if (typeof value !== 'object' || value === null) return String(value);
    if (Array.isArray(value)) return `[${value.map((item) => this.#canonical(item ?? null)).join(',')}]`;
    const entries = entriesOf(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${this.#canonical(part)}`).join(',')}}`;
  }

  #checkString(schema: SchemaNode, value: string, path: Path, issues: Issues): boolean {
    const { minLength, maxLength, pattern, format } = schema;
    this.#spend(value.length / charactersPerStep);
    if (typeof minLength === 'number' && (value.length < minLength || lengthOf(value) < minLength))
      return fail(issues, path, `Expected at least ${minLength} characters.`);
    if (typeof maxLength === 'number' && value.length > maxLength && lengthOf(value) > maxLength)
      return fail(issues, path, `Expected at most ${maxLength} characters.`);
    if (typeof pattern === 'string' && this.#checkPatterns && !this.#pattern(pattern).test(value))
      return fail(issues, path, `Expected text that matches the pattern ${pattern.slice(0, 200)}.`);
    if (typeof format === 'string' && stringFormats[format]?.(value) === false)
      return fail(issues, path, `Expected text of format ${format}.`);
    return true;
  }

  #pattern(source: string): RegExp {
    let pattern = this.#patterns.get(source);
    if (!pattern) {
      try {
        pattern = new RegExp(source, 'u');
      } catch (error) {
        throw invalidSchema(error);
      }
      this.#patterns.set(source, pattern);
    }
    return pattern;
  }

  #checkArray(schema: SchemaNode, value: unknown[], path: Path, issues: Issues, evaluated?: Evaluated): boolean {
    const { minItems, maxItems, uniqueItems, contains, items } = schema;
    let ok = true;
    if (typeof minItems === 'number' && value.length < minItems)
      ok = fail(issues, path, `Expected at least ${minItems} items.`);
    if (typeof maxItems === 'number' && value.length > maxItems)
      ok = fail(issues, path, `Expected at most ${maxItems} items.`);
    if (!ok && !issues) return false;
    if (uniqueItems === true && new Set(value.map((item) => this.#canonical(item ?? null))).size < value.length)
      ok = fail(issues, path, 'Expected items that differ from each other.');
    const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : Array.isArray(items) ? items : [];
    const rest = Array.isArray(items) ? schema['additionalItems'] : items;
    for (let index = 0; index < value.length && (ok || canContinue(issues)); index += 1) {
      const applied: unknown = index < first.length ? first[index] : rest;
      if (applied === undefined) break;
      evaluated?.add(index);
      ok = this.check(applied, value[index] ?? null, { parent: path, key: index }, issues) && ok;
    }
    return (contains === undefined || this.#checkContains(schema, value, path, issues, evaluated)) && ok;
  }

  #checkContains(schema: SchemaNode, value: unknown[], path: Path, issues: Issues, evaluated?: Evaluated): boolean {
    const { contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema as Record<string, number>;
    let found = 0;
    for (const [index, item] of value.entries()) {
      if (!this.check(contains, item ?? null, undefined, undefined)) continue;
      found += 1;
      evaluated?.add(index);
    }
    if (found < minContains) return fail(issues, path, `Expected at least ${minContains} items that match 'contains'.`);
    return found <= maxContains || fail(issues, path, `Expected at most ${maxContains} items that match 'contains'.`);
  }

  #checkObject(
    schema: SchemaNode,
    value: Record<string, unknown>,
    path: Path,
    issues: Issues,
    evaluated?: Evaluated,
  ): boolean {
    const { required, minProperties, maxProperties, propertyNames, properties, additionalProperties } = schema;
    const keys = Object.keys(value);
    this.#spend(keys.length);
    let ok = true;
    for (const name of Array.isArray(required) ? (required as string[]) : []) {
      this.#spend(1);
      if (!holds(value, name)) ok = fail(issues, { parent: path, key: name }, 'Required property is missing.');
    }
    const size =
      minProperties === undefined && maxProperties === undefined ? 0 : keys.filter((key) => holds(value, key)).length;
    if (typeof minProperties === 'number' && size < minProperties)
      ok = fail(issues, path, `Expected at least ${minProperties} properties.`);
    if (typeof maxProperties === 'number' && size > maxProperties)
      ok = fail(issues, path, `Expected at most ${maxProperties} properties.`);
    ok = this.#checkDependencies(schema, value, path, issues, evaluated) && ok;
    const patterns = isSchemaNode(schema['patternProperties']) ? Object.entries(schema['patternProperties']) : [];
    // Which properties the patterns allow is unknown when they are not checked.
    const additional = patterns.length > 0 && !this.#checkPatterns ? undefined : additionalProperties;
    for (const key of keys) {
      if (!ok && !canContinue(issues)) return false;
      const part = value[key];
      if (part === undefined) continue;
      const at = { parent: path, key };
      if (propertyNames !== undefined) ok = this.check(propertyNames, key, at, issues) && ok;
      const own = isSchemaNode(properties) && Object.hasOwn(properties, key);
      let isEvaluated = own;
      if (own) ok = this.check(properties[key], part, at, issues) && ok;
      for (const [pattern, applied] of patterns) {
        this.#spend(1 + key.length / charactersPerStep);
        if (this.#checkPatterns && !this.#pattern(pattern).test(key)) continue;
        isEvaluated = true;
        if (this.#checkPatterns) ok = this.check(applied, part, at, issues) && ok;
      }
      if (!isEvaluated && additional !== undefined) {
        isEvaluated = true;
        if (additional === false) ok = fail(issues, at, 'Unknown property.');
        else ok = this.check(additional, part, at, issues) && ok;
      }
      if (isEvaluated) evaluated?.add(key);
    }
    return ok;
  }

  #checkDependencies(
    { dependentRequired, dependentSchemas, dependencies }: SchemaNode,
    value: Record<string, unknown>,
    path: Path,
    issues: Issues,
    evaluated?: Evaluated,
  ): boolean {
    let ok = true;
    for (const group of [dependentRequired, dependentSchemas, dependencies]) {
      for (const [name, dependency] of isSchemaNode(group) ? Object.entries(group) : []) {
        this.#spend(1);
        if (!holds(value, name)) continue;
        if (!Array.isArray(dependency)) ok = this.check(dependency, value, path, issues, evaluated) && ok;
        else
          for (const other of dependency as string[]) {
            if (!holds(value, other)) ok = fail(issues, { parent: path, key: other }, `Required next to '${name}'.`);
          }
      }
    }
    return ok;
  }

  /** The keywords that apply other schemas to the same value. */
  #checkInPlace(schema: SchemaNode, value: unknown, path: Path, issues: Issues, evaluated?: Evaluated): boolean {
    const { allOf, anyOf, oneOf, not, $dynamicRef, $recursiveRef, if: condition } = schema;
    let ok = true;
    for (const reference of [$dynamicRef, $recursiveRef]) {
      if (typeof reference !== 'string') continue;
      const target = this.#index.resolveDynamic(schema, reference, this.#scope);
      ok = this.check(target, value, path, issues, evaluated) && ok;
    }
    for (const part of Array.isArray(allOf) ? (allOf as unknown[]) : []) {
      if (!ok && !canContinue(issues)) return false;
      ok = this.check(part, value, path, issues, evaluated) && ok;
    }
    if (Array.isArray(anyOf)) ok = this.#checkBranches(anyOf, 'anyOf', value, path, issues, evaluated) && ok;
    if (Array.isArray(oneOf)) ok = this.#checkBranches(oneOf, 'oneOf', value, path, issues, evaluated) && ok;
    if (not !== undefined && this.check(not, value, path, undefined))
      ok = fail(issues, path, "The value matches the schema of 'not'.");
    if (condition !== undefined) {
      const branch = this.check(condition, value, path, undefined, evaluated) ? schema['then'] : schema['else'];
      if (branch !== undefined) ok = this.check(branch, value, path, issues, evaluated) && ok;
    }
    return ok;
  }

  #checkBranches(
    branches: unknown[],
    keyword: 'anyOf' | 'oneOf',
    value: unknown,
    path: Path,
    issues: Issues,
    evaluated?: Evaluated,
  ): boolean {
    let matches = 0;
    for (const branch of branches) {
      if (!this.check(branch, value, path, undefined, evaluated)) continue;
      matches += 1;
      // Which properties are evaluated depends on all branches that match.
      if (keyword === 'oneOf' ? matches === 2 : !evaluated) break;
    }
    if (matches === 1 || (matches > 1 && keyword === 'anyOf')) return true;
    if (matches > 1) return fail(issues, path, 'The value matches more than one schema of oneOf.');
    fail(issues, path, `The value matches none of the ${branches.length} schemas of ${keyword}.`);
    // Reasons are collected in a second pass, because most branches of a union fail although the value is valid.
    for (const branch of branches.length <= maxExplainedBranches ? branches : []) {
      if (canContinue(issues)) this.check(branch, value, path, issues);
    }
    return false;
  }

  #checkUnevaluated(
    { unevaluatedProperties, unevaluatedItems, patternProperties }: SchemaNode,
    value: unknown,
    path: Path,
    issues: Issues,
    evaluated: Evaluated,
  ): boolean {
    if (typeof value !== 'object' || value === null) return true;
    const rest = Array.isArray(value) ? unevaluatedItems : unevaluatedProperties;
    if (rest === undefined || (patternProperties !== undefined && !this.#checkPatterns)) return true;
    let ok = true;
    for (const [key, part] of Array.isArray(value) ? value.entries() : entriesOf(value)) {
      if (evaluated.has(key)) continue;
      ok = this.check(rest, part ?? null, { parent: path, key }, issues) && ok;
      evaluated.add(key);
    }
    return ok;
  }

  #spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps >= 0) return;
    if (!this.#isExtended) {
      this.#isExtended = true;
      this.#steps += stepsPerPart * countParts(this.#root);
      if (this.#steps >= 0) return;
    }
    throw new QuiverError(
      'SCHEMA_TOO_COMPLEX',
      `The check of the value against its JSON Schema takes more than ${maxSteps} steps. Simplify the schema: fewer branches of anyOf and oneOf, fewer references, or a smaller value.`,
    );
  }
}

/** Adds an issue. Always `false`, the outcome of the check. */
function fail(issues: Issues, path: Path, message: string): false {
  if (issues && issues.length < maxIssues) issues.push({ path: toKeys(path), message });
  return false;
}

function canContinue(issues: Issues): boolean {
  return issues !== undefined && issues.length < maxIssues;
}

function toKeys(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = path; at; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

function toJsonValue(value: unknown): unknown {
  if (typeof value === 'object') {
    const { toJSON } = (value ?? {}) as { toJSON?: unknown };
    return typeof toJSON === 'function' ? (toJSON.call(value) as unknown) : value;
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new NotJsonError('The value cannot be written as JSON.');
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, part]) => part !== undefined);
}

function holds(value: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function hasType(value: unknown, name: unknown): boolean {
  return name === 'integer' ? Number.isInteger(value) : name === typeOf(value);
}

function checkNumber(schema: SchemaNode, value: number, path: Path, issues: Issues): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  // In draft 4 the exclusive bounds are flags.
  const above = exclusiveMinimum === true ? minimum : exclusiveMinimum;
  const below = exclusiveMaximum === true ? maximum : exclusiveMaximum;
  if (typeof minimum === 'number' && value < minimum) return fail(issues, path, `Expected at least ${minimum}.`);
  if (typeof maximum === 'number' && value > maximum) return fail(issues, path, `Expected at most ${maximum}.`);
  if (typeof above === 'number' && value <= above) return fail(issues, path, `Expected more than ${above}.`);
  if (typeof below === 'number' && value >= below) return fail(issues, path, `Expected less than ${below}.`);
  if (typeof multipleOf !== 'number') return true;
  const quotient = value / multipleOf;
  // Decimal fractions are not exact in binary.
  const isMultiple = Math.abs(quotient - Math.round(quotient)) <= 1e-12 * Math.abs(quotient);
  return isMultiple || fail(issues, path, `Expected a multiple of ${multipleOf}.`);
}

/** The length in code points. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let index = 1; index < text.length; index += 1) {
    const isPair = (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
    if (isPair) length -= 1;
  }
  return length;
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
