import { QuiverError } from '@quiver/core';

/** An option object from outside, before anything is known about it. */
export type RawOptions = Readonly<Record<string, unknown>>;

/** What is wrong with the options of a strategy. */
export function invalidOptions(message: string, cause?: unknown): QuiverError {
  return new QuiverError('CHUNK_OPTIONS_INVALID', message, cause === undefined ? {} : { cause });
}

export function requireKnownNames(options: RawOptions, strategy: string, known: readonly string[]): void {
  const unknown = Object.keys(options).filter((name) => !known.includes(name) && options[name] !== undefined);
  if (unknown.length === 0) return;
  throw invalidOptions(
    `Invalid parameters for ${strategy} strategy: '${unknown.join(', ')}' not supported. Known: ${known.join(', ')}.`,
  );
}

/** The value of an option with two spellings. Both at once must agree. */
export function oneSpelling(options: RawOptions, [first, second]: readonly [string, string]): unknown {
  const a = options[first];
  const b = options[second];
  if (a !== undefined && b !== undefined && a !== b) {
    throw invalidOptions(`${first} and ${second} are two spellings of one option and were given different values.`);
  }
  return a ?? b;
}

export function parseWholeNumber(name: string, value: unknown, least: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw invalidOptions(`${name} must be a whole number of at least ${least}, not ${show(value)}.`);
}

export function parseBoolean(options: RawOptions, name: string, fallback: boolean): boolean {
  const value = options[name] ?? fallback;
  if (typeof value === 'boolean') return value;
  throw invalidOptions(`${name} must be true or false, not ${show(value)}.`);
}

export function parseOneOf<Value extends string>(name: string, value: unknown, known: readonly Value[]): Value {
  if ((known as readonly unknown[]).includes(value)) return value as Value;
  throw invalidOptions(`${name} must be one of ${known.join(', ')}, not ${show(value)}.`);
}

/** A string or a list of strings, as a list. */
export function parseStrings(name: string, value: unknown): readonly string[] {
  const list: unknown = typeof value === 'string' ? [value] : value;
  if (Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string')) return list as string[];
  throw invalidOptions(`${name} must be a string or a list of strings, not ${show(value)}.`);
}

/** `[['h1', 'Title'], …]` with names that `readName` understands. */
export function parseNamePairs<Name>(
  name: string,
  value: unknown,
  readName: (mark: string) => Name | undefined,
): ReadonlyMap<Name, string> {
  const pairs = new Map<Name, string>();
  if (!Array.isArray(value)) throw invalidOptions(`${name} must be a list of pairs, not ${show(value)}.`);
  for (const pair of value as unknown[]) {
    const [mark, key] = Array.isArray(pair) ? (pair as unknown[]) : [];
    const read = typeof mark === 'string' ? readName(mark.trim()) : undefined;
    if (read === undefined || typeof key !== 'string' || key === '' || reservedKeys.has(key)) {
      throw invalidOptions(`${name} must hold pairs of a mark and a metadata key, not ${JSON.stringify(pair)}.`);
    }
    pairs.set(read, key);
  }
  return pairs;
}

const reservedKeys: ReadonlySet<string> = new Set(['startIndex', 'endIndex', 'headings', '__proto__']);

export function show(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
