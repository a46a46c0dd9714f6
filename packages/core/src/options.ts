import { QuiverError, type QuiverErrorOptions } from './errors.js';
import { getDefaultLogger } from './logger.js';

/**
 * Checks the value of one option. Returns `undefined` for a valid value, otherwise a sentence that names the option, the expected values
 * and the value.
 *
 * @param option - name of the option, with the names of the objects around it: `edges.similarity.threshold`
 * @param owner - function or class that received the options
 */
export type OptionCheck = (value: unknown, option: string, owner?: string) => string | undefined;

/** One check for each option, so that the compiler finds a missing name. */
export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: OptionCheck };

/** Settings of {@link checkOptions}. */
export interface CheckOptionsSettings {
  /** Whether all other names are accepted, for options that are passed on to another library. Default `false`. */
  readonly isOpen?: boolean;
  /** Details of the error. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Names with a warning, by function. Names of servers are the application's, so the number is bounded: later names have no warning. */
const warned = new Set<string>();
const maxWarned = 1000;

/**
 * Checks the options of a public function: rejects names that it does not have, and invalid values. Without it, JavaScript ignores a
 * misspelled `scope`, and the function reaches the documents of all tenants.
 *
 * An option that is `undefined` is absent. Instances of classes may have further members: only their values are checked.
 *
 * @param name - function or class that received the options, for the message
 * @throws `OPTIONS_INVALID`
 * @example
 * const checks: OptionChecks<RateOptions> = { perSecond: numberIn({ above: 0 }), burst: wholeNumber(1) };
 * checkOptions('createRate', options, checks);
 * // createRate has no option 'persecond'. Did you mean 'perSecond'? Its options are: perSecond, burst.
 */
export function checkOptions<Options extends object>(
  name: string,
  options: Options,
  checks: OptionChecks<Options>,
  settings?: CheckOptionsSettings,
): void {
  const problem = isRecord(options)
    ? findProblem(options, indexOf(checks), '', name, settings)
    : `needs its options, an object, not ${show(options)}.`;
  if (problem === undefined) return;
  const message = problem.startsWith("'") ? `${name}: ${problem}` : `${name} ${problem}`;
  throw invalidOptions(message, { details: settings?.details && { ...settings.details } });
}

/** Returns the error for options and arguments that a function cannot use. */
export function invalidOptions(message: string, options?: QuiverErrorOptions): QuiverError {
  return new QuiverError('OPTIONS_INVALID', message, options);
}

/** Second names of options, from the specification, Mastra and the AI SDK, by the name that functions read. */
const aliases: Readonly<Record<string, string>> = {
  inputSchema: 'parameters',
  maxSize: 'size',
  requireApproval: 'needsApproval',
  separatorPosition: 'keepSeparator',
  separators: 'separator',
  whereDocument: 'documentFilter',
};

/**
 * Returns a copy of checked options in which the value of a second name also has the first.
 *
 * @param owner - function or class that received the options, for the message
 * @throws `OPTIONS_INVALID` when both names are given with different values
 */
export function resolveAliases<Options extends object>(owner: string, given: Options): Options {
  const options = { ...given } as Record<string, unknown>;
  for (const [name, alias] of Object.entries(aliases)) {
    const { [name]: value, [alias]: other } = options;
    if (other === undefined) continue;
    if (value !== undefined && value !== other)
      throw invalidOptions(
        `${owner}: '${name}' and '${alias}' are two names of one option, and their values differ. Remove one.`,
      );
    options[name] = other;
  }
  return options as Options;
}

/** Accepts every value: the function checks it where it uses it. */
export const anyValue: OptionCheck = () => undefined;

/**
 * Returns a function that makes the part of a table whose options accept every value. The compiler finds a missing name, and one that the
 * options do not have. The first call names the type of the options, because a call infers all types or none.
 *
 * @example
 * const checks: OptionChecks<PageOptions> = { ...unchecked<PageOptions>()('cursor', 'filter'), size: wholeNumber(1) };
 */
export function unchecked<Options>(): <const Name extends keyof Options & string>(
  ...names: readonly Name[]
) => Readonly<Record<Name, OptionCheck>> {
  return (...names) =>
    Object.fromEntries(names.map((name) => [name, anyValue])) as Record<(typeof names)[number], OptionCheck>;
}

/**
 * Accepts the values for which `isValid` returns `true`. `expected` completes the sentence "must be …". The message quotes the value: do not
 * use it for secrets.
 */
export function valueThat(isValid: (value: unknown) => boolean, expected: string): OptionCheck {
  const check: OptionCheck = (value, option) =>
    isValid(value) ? undefined : `'${option}' must be ${expected}, not ${show(value)}.`;
  expectations.set(check, expected);
  return check;
}

/** Expectations of the checks of {@link valueThat} and {@link required}. */
const expectations = new WeakMap<OptionCheck, string>();
/** Checks of {@link required}. */
const requiredChecks = new WeakSet<OptionCheck>();

/** Accepts `true` and `false`. */
export const booleanValue: OptionCheck = valueThat((value) => typeof value === 'boolean', 'true or false');

/** Accepts a non-empty string. */
export const stringValue: OptionCheck = valueThat(
  (value) => typeof value === 'string' && value !== '',
  'a non-empty string',
);

/** Accepts a function. */
export const functionValue: OptionCheck = valueThat((value) => typeof value === 'function', 'a function');

/** Accepts objects with these methods. @param expected - completes “must be …” */
export function objectWith(expected: string, ...methods: readonly string[]): OptionCheck {
  const names = methods.map((name) => `${name}()`).join(', ');
  return valueThat(
    (value) => methods.every((name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function'),
    `${expected}, an object with ${names}`,
  );
}

/** Accepts a `Logger`. */
export const loggerValue: OptionCheck = objectWith('a logger', 'debug', 'info', 'warn', 'error');

/** Accepts an `AbortSignal`, also of another realm. */
export const signalValue: OptionCheck = valueThat(
  (value) => typeof (value as AbortSignal | null)?.addEventListener === 'function',
  'an AbortSignal',
);

/** Accepts a list of non-empty strings. */
export const stringList: OptionCheck = valueThat(
  (value) => Array.isArray(value) && Array.from(value).every((item) => typeof item === 'string' && item !== ''),
  'a list of non-empty strings',
);

/** Accepts an integer of at least `least` and at most `most`. */
export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): OptionCheck {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return valueThat(
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
    `an integer ${range}`,
  );
}

/** Accepts a finite number from `least` to `most`. `above` and `below` exclude the bound itself. */
export function numberIn(range: { least?: number; above?: number; most?: number; below?: number }): OptionCheck {
  const { least = -Infinity, above = -Infinity, most = Infinity, below = Infinity } = range;
  const bounds = [
    ...(range.least === undefined ? [] : [`of at least ${least}`]),
    ...(range.above === undefined ? [] : [`above ${above}`]),
    ...(range.most === undefined ? [] : [`of at most ${most}`]),
    ...(range.below === undefined ? [] : [`below ${below}`]),
  ];
  return valueThat(
    (value) =>
      typeof value === 'number' &&
      Number.isFinite(value) &&
      value >= least &&
      value > above &&
      value <= most &&
      value < below,
    ['a finite number', bounds.join(' and ')].filter(Boolean).join(' '),
  );
}

/** Accepts one of the values. */
export function oneOf(...values: readonly (string | number | boolean | null)[]): OptionCheck {
  const list = values.map((value) => show(value)).join(', ');
  return valueThat((value) => (values as readonly unknown[]).includes(value), `one of ${list}`);
}

/**
 * Accepts a value that passes one of the checks. `expected` completes the sentence "must be …"; an invalid object is described by the last
 * check, so place the one of an object there.
 */
export function eitherOf(expected: string, ...checks: readonly OptionCheck[]): OptionCheck {
  return (value, option, owner) => {
    let problem: string | undefined;
    for (const check of checks) {
      problem = check(value, option, owner);
      if (problem === undefined) return undefined;
    }
    return isRecord(value) ? problem : `'${option}' must be ${expected}, not ${show(value)}.`;
  };
}

/** Accepts an object with these options only. */
export function objectOf<Options extends object>(checks: OptionChecks<Options>): OptionCheck {
  const index = indexOf(checks);
  return (value, option, owner) =>
    isRecord(value) ? findProblem(value, index, option, owner) : `'${option}' must be an object, not ${show(value)}.`;
}

/** Accepts a list whose items pass the check. */
export function listOf(check: OptionCheck): OptionCheck {
  return (value, option, owner) => {
    if (!Array.isArray(value)) return `'${option}' must be a list, not ${show(value)}.`;
    const problems = value.map((item: unknown, place) => check(item, `${option}[${place}]`, owner));
    return problems.find((problem) => problem !== undefined);
  };
}

/** Checks of {@link ignoredOptions}: their names are not offered in messages. */
const ignored = new WeakSet<OptionCheck>();

/**
 * Returns the part of a table for options that other systems document and that have no effect here. They are accepted, with one warning per
 * name. Spread it: the type of the options need not declare them.
 *
 * @param reasons - say what is missing: `{ suspendSchema: 'tools cannot be suspended.' }`
 */
export function ignoredOptions<Name extends string>(
  reasons: Readonly<Record<Name, string>>,
): Readonly<Record<Name, OptionCheck>> {
  const entries = Object.entries<string>(reasons).map(([name, missing]): [string, OptionCheck] => {
    const check: OptionCheck = (_value, option, owner = 'Quiver') => warnOnce(owner, option, missing);
    ignored.add(check);
    return [name, check];
  });
  return Object.fromEntries(entries) as Record<Name, OptionCheck>;
}

/**
 * Requires an option.
 *
 * @param expected - completes "needs 'name': …". Default: what the check expects, such as `a vector store`
 */
export function required(check: OptionCheck, expected: string = expectations.get(check) ?? 'a value'): OptionCheck {
  const requiredCheck: OptionCheck = (...given) => check(...given);
  expectations.set(requiredCheck, expected);
  requiredChecks.add(requiredCheck);
  return requiredCheck;
}

/** Checks by name. */
interface Index {
  readonly table: Readonly<Record<string, OptionCheck>>;
  readonly byName: ReadonlyMap<string, OptionCheck>;
  /** Options that must be given. */
  readonly required: readonly string[];
}

/** Indexes of the tables of checks. An entry lives as long as the table. */
const indexes = new WeakMap<object, Index>();

function indexOf(table: Readonly<Record<string, OptionCheck>>): Index {
  const known = indexes.get(table);
  if (known) return known;
  const entries = Object.entries(table);
  const requiredNames = entries.filter(([, check]) => requiredChecks.has(check)).map(([name]) => name);
  const index = { table, byName: new Map(entries), required: requiredNames };
  indexes.set(table, index);
  return index;
}

function findProblem(
  options: Readonly<Record<string, unknown>>,
  index: Index,
  parent: string,
  owner: string | undefined,
  settings?: CheckOptionsSettings,
): string | undefined {
  const { table, byName, required: needed } = index;
  // Not `Object.keys`, which makes a list: programs with thousands of tools check the options of each.
  for (const option in isPlain(options) ? options : table) {
    const check = byName.get(option);
    if (check === anyValue) continue;
    const value = options[option];
    if (value === undefined) continue;
    const problem = check
      ? check(value, parent === '' ? option : `${parent}.${option}`, owner)
      : findUnknown(options, option, table, parent, settings);
    if (problem !== undefined) return problem;
  }
  const missing = needed.find((option) => options[option] === undefined);
  if (missing === undefined) return undefined;
  const expected = expectations.get(byName.get(missing) as OptionCheck);
  return `needs '${parent === '' ? missing : `${parent}.${missing}`}': ${expected}.`;
}

function findUnknown(
  options: object,
  option: string,
  checks: Readonly<Record<string, OptionCheck>>,
  parent: string,
  settings: CheckOptionsSettings | undefined,
): string | undefined {
  // Not own: a member that a program added to the prototype of all objects.
  if (settings?.isOpen || !Object.hasOwn(options, option)) return undefined;
  const known = Object.keys(checks).filter((name) => !ignored.has(checks[name] as OptionCheck));
  const nearest = findNearestName(option, known);
  const prefix = parent === '' ? '' : `${parent}.`;
  const hint = nearest === undefined ? '' : ` Did you mean '${prefix}${nearest}'?`;
  const list = parent === '' ? 'Its options are' : `The options of '${parent}' are`;
  return `has no option '${prefix}${option}'.${hint} ${list}: ${known.join(', ')}.`;
}

function warnOnce(owner: string, option: string, missing: string): undefined {
  const key = `${owner} ${option}`;
  if (warned.has(key) || warned.size >= maxWarned) return;
  warned.add(key);
  getDefaultLogger().warn(`${owner} ignores the option '${option}': ${missing}`);
}

/** Returns the known name that a misspelled one most likely means: the same letters, one within the other, or at most a third of the letters wrong. */
export function findNearestName(option: string, known: readonly string[]): string | undefined {
  const letters = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  // A name of an attacker's length costs nothing.
  const wanted = letters(option.slice(0, 64));
  if (wanted === '' || known.length === 0) return undefined;
  const distances = known.map((name) => {
    const other = letters(name);
    const [short, long] = wanted.length < other.length ? [wanted, other] : [other, wanted];
    const isPart = short !== long && short.length > 2 && (long.startsWith(short) || long.endsWith(short));
    return { name, distance: isPart ? 0.5 : editDistance(wanted, other) };
  });
  const best = distances.reduce((first, second) => (second.distance < first.distance ? second : first));
  return best.distance <= Math.max(1, wanted.length / 3) ? best.name : undefined;
}

/** Number of letters that are wrong, missing, added or swapped with their neighbor (optimal string alignment distance). */
function editDistance(first: string, second: string): number {
  const rows = [Array.from({ length: second.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= first.length; row += 1) {
    const next = [row];
    rows.push(next);
    for (let column = 1; column <= second.length; column += 1) {
      const isSame = first[row - 1] === second[column - 1];
      const isSwapped = first[row - 1] === second[column - 2] && first[row - 2] === second[column - 1];
      next.push(
        Math.min(
          at(row, column - 1) + 1,
          at(row - 1, column) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(first.length, second.length);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Formats a value for a message, at most 80 characters. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function') return 'a function';
  const shown = typeof value === 'string' ? `'${value}'` : String(value);
  return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
}
