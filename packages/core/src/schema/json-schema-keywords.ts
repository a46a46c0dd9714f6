import { isSchemaNode, type SchemaIndex, type SchemaNode } from './json-schema-index.js';
import type { SchemaIssue } from './schema.js';
import { stringFormats } from './string-formats.js';

/** Issues that are collected; a large value may have one in each of its parts. */
const maxIssues = 100;
/** Maximum number of `anyOf` or `oneOf` branches for which an issue explains each mismatch. */
const maxExplainedBranches = 10;
/** Characters that count as one step. */
export const charactersPerStep: number = 64;

type Key = string | number;

/** Path from the root to a part of the value, as a linked list that branches share. */
export type Path = { readonly parent: Path; readonly key: Key } | undefined;

/** `undefined` when only the outcome matters. */
export type Issues = SchemaIssue[] | undefined;

/** Properties and items that a schema and its in-place subschemas have evaluated. */
export type Evaluated = Set<Key>;

/** One check of a value, whose work is bounded. */
export interface Run {
  readonly schema: Pick<SchemaIndex, 'resolve' | 'resolveDynamic'> & {
    /** Returns the canonical texts of the allowed values of `enum` or `const`. */
    textsOf(key: object, create: () => ReadonlySet<string>): ReadonlySet<string>;
  };
  readonly checkPatterns: boolean;
  /** Base URIs of the schemas that are being checked, outermost first. */
  readonly scope: readonly string[];
  /** Applies a schema to a value. @param outer - receives what the schema has evaluated */
  check(schema: unknown, value: unknown, path?: Path, issues?: Issues, outer?: Evaluated): boolean;
  /** @throws `SCHEMA_TOO_COMPLEX` when the check takes more steps than it may */
  spend(steps: number): void;
  /** Returns text that two values share exactly when they are equal as JSON. */
  canonical(value: unknown): string;
  /** Returns whether a text matches a pattern; `true` when patterns are not checked. */
  matches(pattern: string, text: string): boolean;
}

/** A schema object that is applied to a value. */
export interface Application {
  readonly run: Run;
  readonly schema: SchemaNode;
  readonly value: unknown;
  readonly path: Path;
  readonly issues: Issues;
  /** `undefined` in schemas without keywords that need it. */
  readonly evaluated: Evaluated | undefined;
  /** Set on demand by {@link keysOf}. */
  keys?: readonly string[];
}

/** Reports a failed expectation about the value, or about one of its parts. Always `false`, the outcome of the check. */
export function fail({ issues, path }: Application, message: string, part?: string): false {
  if (!issues || !canContinue(issues)) return false;
  const keys: Key[] = part === undefined ? [] : [part];
  for (let at = path; at; at = at.parent) keys.push(at.key);
  issues.push({ path: keys.reverse(), message });
  return false;
}

export function canContinue(issues: Issues): boolean {
  return issues !== undefined && issues.length < maxIssues;
}

/**
 * Checks all items while issues are collected, otherwise up to the first failure. Items are never copied: the steps
 * count only those that are checked.
 */
function every<Item>(
  { issues }: Application,
  items: readonly Item[],
  check: (item: Item, index: number) => boolean,
  start = 0,
  end = items.length,
): boolean {
  let ok = true;
  for (let index = start; index < end && (ok || canContinue(issues)); index += 1)
    ok = check(items[index] as Item, index) && ok;
  return ok;
}

/** Applies another schema to the same value. */
function checkInPlace({ run, value, path, issues, evaluated }: Application, schema: unknown): boolean {
  return run.check(schema, value, path, issues, evaluated);
}

/** Checks a property or an item. */
function checkPart({ run, value, path, issues, evaluated }: Application, schema: unknown, key: Key): boolean {
  evaluated?.add(key);
  return run.check(schema, (value as Record<Key, unknown>)[key] ?? null, { parent: path, key }, issues);
}

/** Checks the first items, each with its own schema. */
function checkFirst(at: Application, schemas: readonly unknown[]): boolean {
  const end = Math.min(schemas.length, itemsOf(at).length);
  return every(at, schemas, (schema, index) => checkPart(at, schema, index), 0, end);
}

/** Checks the items after the items that have their own schema. */
function checkRest(at: Application, schema: unknown, first: unknown): boolean {
  const start = Array.isArray(first) ? first.length : 0;
  return every(at, itemsOf(at), (_, index) => checkPart(at, schema, index), start);
}

function itemsOf({ value }: Application): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the keys of the properties of an object; none for other values. */
function keysOf(at: Application): readonly string[] {
  if (at.keys) return at.keys;
  const value = at.value as Readonly<Record<string, unknown>>;
  at.keys = typeOf(value) === 'object' ? Object.keys(value).filter((key) => value[key] !== undefined) : [];
  at.run.spend(at.keys.length);
  return at.keys;
}

function has({ value }: Application, name: string): boolean {
  return Object.hasOwn(value as object, name) && (value as SchemaNode)[name] !== undefined;
}

/** Checks one keyword; values of types that the keyword does not apply to pass. */
export type Check<Operand> = (operand: Operand, at: Application) => boolean;

/** Returns the size of a value that a limit applies to; `undefined` for other values. */
type Measure = (at: Application) => number | undefined;

const numberOf: Measure = ({ value }) => (typeof value === 'number' ? value : undefined);
const countOfItems: Measure = ({ value }) => (Array.isArray(value) ? value.length : undefined);
const countOfProperties: Measure = (at) => (typeOf(at.value) === 'object' ? keysOf(at).length : undefined);

/** Code points of a text. */
const charactersOf: Measure = ({ run, value }) => {
  if (typeof value !== 'string') return undefined;
  run.spend(value.length / charactersPerStep);
  return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
};

const isAtLeast = (size: number, bound: number): boolean => size >= bound;
const isAtMost = (size: number, bound: number): boolean => size <= bound;

/** Decimal fractions are not exact in binary. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-12 * Math.abs(quotient);
}

function limit(of: Measure, isWithin: (size: number, bound: number) => boolean, expectation: string): Check<number> {
  return (bound, at) => {
    const size = of(at);
    return size === undefined || isWithin(size, bound) || fail(at, `Expected ${expectation.replace('#', `${bound}`)}.`);
  };
}

const atLeast = limit(numberOf, isAtLeast, 'at least #');
const atMost = limit(numberOf, isAtMost, 'at most #');
const moreThan = limit(numberOf, (size, bound) => size > bound, 'more than #');
const lessThan = limit(numberOf, (size, bound) => size < bound, 'less than #');

const numberKeywords: Record<string, Check<number>> = {
  // In draft 4 the exclusive bounds are flags.
  minimum: (bound, at) => (at.schema['exclusiveMinimum'] === true ? moreThan : atLeast)(bound, at),
  maximum: (bound, at) => (at.schema['exclusiveMaximum'] === true ? lessThan : atMost)(bound, at),
  exclusiveMinimum: moreThan,
  exclusiveMaximum: lessThan,
  multipleOf: limit(numberOf, isMultiple, 'a multiple of #'),
  minLength: limit(charactersOf, isAtLeast, 'at least # characters'),
  maxLength: limit(charactersOf, isAtMost, 'at most # characters'),
  minItems: limit(countOfItems, isAtLeast, 'at least # items'),
  maxItems: limit(countOfItems, isAtMost, 'at most # items'),
  minProperties: limit(countOfProperties, isAtLeast, 'at least # properties'),
  maxProperties: limit(countOfProperties, isAtMost, 'at most # properties'),
};

const checkDynamicReference: Check<string> = (reference, at) =>
  checkInPlace(at, at.run.schema.resolveDynamic(at.schema, reference, at.run.scope));

const textKeywords: Record<string, Check<string>> = {
  $ref: (reference, at) => checkInPlace(at, at.run.schema.resolve(at.schema, reference)),
  $dynamicRef: checkDynamicReference,
  $recursiveRef: checkDynamicReference,
  pattern: (source, at) =>
    typeof at.value !== 'string' ||
    at.run.matches(source, at.value) ||
    fail(at, `Expected text that matches the pattern ${source.slice(0, 200)}.`),
  format: (name, at) => {
    if (typeof at.value !== 'string') return true;
    at.run.spend(at.value.length / charactersPerStep);
    return stringFormats[name]?.(at.value) !== false || fail(at, `Expected text of format ${name}.`);
  },
};

const listKeywords: Record<string, Check<readonly unknown[]>> = {
  enum: (allowed, at) => checkEquals(at, allowed, allowed, 'one of '),
  required: (names, at) =>
    typeOf(at.value) !== 'object' ||
    every(at, names as string[], (name) => {
      at.run.spend(1);
      return has(at, name) || fail(at, 'Required property is missing.', name);
    }),
  prefixItems: (schemas, at) => checkFirst(at, schemas),
  allOf: (schemas, at) => every(at, schemas, (schema) => checkInPlace(at, schema)),
  anyOf: (schemas, at) => checkBranches(at, schemas, 'anyOf'),
  oneOf: (schemas, at) => checkBranches(at, schemas, 'oneOf'),
};

const mapKeywords: Record<string, Check<SchemaNode>> = {
  dependentRequired: checkDependencies,
  dependentSchemas: checkDependencies,
  dependencies: checkDependencies,
  properties: (schemas, at) =>
    every(at, keysOf(at), (key) => !Object.hasOwn(schemas, key) || checkPart(at, schemas[key], key)),
  patternProperties: (schemas, at) => {
    const { run } = at;
    const patterns = Object.keys(schemas);
    run.spend(patterns.length);
    // A pattern that is not checked may allow each property, and anything in it.
    const checkPattern = (pattern: string, key: string): boolean =>
      !run.matches(pattern, key) || checkPart(at, !run.checkPatterns || schemas[pattern], key);
    return every(at, keysOf(at), (key) => every(at, patterns, (pattern) => checkPattern(pattern, key)));
  },
};

const otherKeywords: Record<string, Check<unknown>> = {
  type: (expected, at) =>
    hasType(at.value, expected) ||
    fail(at, `Expected ${[expected].flat().join(' or ')}, received ${typeOf(at.value)}.`),
  const: (allowed, at) => checkEquals(at, at.schema, [allowed], ''),
  items: (items, at) => (Array.isArray(items) ? checkFirst(at, items) : checkRest(at, items, at.schema['prefixItems'])),
  additionalItems: (schema, at) => !Array.isArray(at.schema['items']) || checkRest(at, schema, at.schema['items']),
  uniqueItems: (isRequired, at) => {
    if (isRequired !== true || !Array.isArray(at.value)) return true;
    const texts = new Set(at.value.map((item) => at.run.canonical(item ?? null)));
    return texts.size === at.value.length || fail(at, 'Expected items that differ from each other.');
  },
  contains: (schema, at) => {
    if (!Array.isArray(at.value)) return true;
    const { minContains = 1, maxContains = Infinity } = at.schema as Record<string, number>;
    const matching = [...at.value.keys()].filter((index) => at.run.check(schema, itemsOf(at)[index] ?? null));
    const found = matching.length;
    for (const index of matching) at.evaluated?.add(index);
    if (found < minContains) return fail(at, `Expected at least ${minContains} items that match 'contains'.`);
    return found <= maxContains || fail(at, `Expected at most ${maxContains} items that match 'contains'.`);
  },
  propertyNames: (schema, at) =>
    every(at, keysOf(at), (key) => at.run.check(schema, key, { parent: at.path, key }, at.issues)),
  additionalProperties: (schema, at) => {
    const { properties, patternProperties } = at.schema;
    const patterns = typeOf(patternProperties) === 'object' ? Object.keys(patternProperties as object) : [];
    at.run.spend(patterns.length);
    return every(at, keysOf(at), (key) => {
      if (Object.hasOwn(properties ?? {}, key) || patterns.some((pattern) => at.run.matches(pattern, key))) return true;
      return schema === false ? fail(at, 'Unknown property.', key) : checkPart(at, schema, key);
    });
  },
  not: (schema, at) =>
    !at.run.check(schema, at.value, at.path, undefined) || fail(at, "The value matches the schema of 'not'."),
  if: (condition, at) => {
    const isMet = at.run.check(condition, at.value, at.path, undefined, at.evaluated);
    const branch = at.schema[isMet ? 'then' : 'else'];
    return branch === undefined || checkInPlace(at, branch);
  },
};

function checkUnevaluated(schema: unknown, at: Application, key: Key): boolean {
  return at.evaluated?.has(key) === true || checkPart(at, schema, key);
}

/** Keywords that depend on the evaluation results of all other keywords. */
const lastKeywords: Record<string, Check<unknown>> = {
  unevaluatedItems: (schema, at) => every(at, itemsOf(at), (_, index) => checkUnevaluated(schema, at, index)),
  unevaluatedProperties: (schema, at) => every(at, keysOf(at), (key) => checkUnevaluated(schema, at, key)),
};

function checkDependencies(dependencies: SchemaNode, at: Application): boolean {
  if (typeOf(at.value) !== 'object') return true;
  const entries = Object.entries(dependencies);
  at.run.spend(entries.length);
  return every(at, entries, ([name, dependency]) => {
    if (!has(at, name)) return true;
    if (!Array.isArray(dependency)) return checkInPlace(at, dependency);
    at.run.spend(dependency.length);
    return every(at, dependency as string[], (key) => has(at, key) || fail(at, `Required next to '${name}'.`, key));
  });
}

function checkBranches(at: Application, branches: readonly unknown[], keyword: 'anyOf' | 'oneOf'): boolean {
  const { run, value, path, issues, evaluated } = at;
  let matches = 0;
  for (const branch of branches) {
    if (!run.check(branch, value, path, undefined, evaluated)) continue;
    matches += 1;
    // Which properties are evaluated depends on all branches that match.
    if (keyword === 'oneOf' ? matches === 2 : !evaluated) break;
  }
  if (matches === 1 || (matches > 1 && keyword === 'anyOf')) return true;
  if (matches > 1) return fail(at, 'The value matches more than one schema of oneOf.');
  fail(at, `The value matches none of the ${branches.length} schemas of ${keyword}.`);
  // Reasons are collected in a second pass, because most branches of a union fail although the value is valid.
  if (branches.length > maxExplainedBranches) return false;
  for (const branch of branches) if (canContinue(issues)) run.check(branch, value, path, issues);
  return false;
}

/** Compares with all allowed values at once, by their canonical text. */
function checkEquals(at: Application, key: object, allowed: readonly unknown[], expectation: string): boolean {
  const { run, value } = at;
  const texts = run.schema.textsOf(key, () => new Set(allowed.map((item) => run.canonical(item))));
  const isAllowed = texts.has(run.canonical(value));
  if (isAllowed || !canContinue(at.issues)) return isAllowed;
  const shown = [...texts].slice(0, 10).join(', ').slice(0, 200);
  return fail(at, `Expected ${expectation}${shown}${texts.size > 10 ? `, … (${texts.size} values)` : ''}.`);
}

/** A keyword of a schema object. */
export interface Assertion {
  readonly check: Check<never>;
  readonly operand: never;
  readonly isLast: boolean;
}

const isAnything = (): boolean => true;
export const isText = (operand: unknown): boolean => typeof operand === 'string';

/** Checks by keyword. A keyword whose operand has another type is ignored, such as the `required: true` of draft 3. */
export const keywords: Map<string, { check: Check<never>; isOperand: (operand: unknown) => boolean; isLast: boolean }> =
  new Map();
const register = (checks: Record<string, Check<never>>, isOperand: (operand: unknown) => boolean): void => {
  for (const [name, check] of Object.entries(checks))
    keywords.set(name, { check, isOperand, isLast: checks === lastKeywords });
};
register(otherKeywords, isAnything);
register(numberKeywords, Number.isFinite);
register(textKeywords, isText);
register(listKeywords, Array.isArray);
register(mapKeywords, isSchemaNode);
register(lastKeywords, isAnything);

function hasType(value: unknown, expected: unknown): boolean {
  const isOne = (name: unknown): boolean => (Array.isArray(expected) ? expected.includes(name) : expected === name);
  return isOne(typeOf(value)) || (Number.isInteger(value) && isOne('integer'));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
