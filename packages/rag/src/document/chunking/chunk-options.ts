import { QuiverError } from '@quiver/core';
import type { ExtractParams } from '../extract/extract-options.js';
import type { PackOptions, SeparatorPosition, Measure } from './pack-spans.js';

/** Options of every strategy. Sizes are UTF-16 code units, as in `string.length`, unless the strategy or a function measures otherwise. */
export interface CommonChunkOptions {
  /** Maximum size of a chunk. Only a single character (grapheme cluster) may exceed it. Default 4000. */
  maxSize?: number;
  /** Alias of `maxSize`. */
  size?: number;
  /** Maximum part of a chunk that the next one repeats; less than `maxSize`. Default 50, or a quarter of `maxSize` if that is less. */
  overlap?: number;
  /** Whether white space at both ends of a chunk is removed, and chunks of white space with it. Default `true`. */
  stripWhitespace?: boolean;
  /** Side of the cut on which a separator stays. Default `'end'`: at the end of the chunk before the cut; with `language`, `'start'`. */
  separatorPosition?: SeparatorPosition;
  /** Alias of `separatorPosition`: `true` means `'start'`, `false` means `'end'`, because only white space is ever removed. */
  keepSeparator?: boolean | SeparatorPosition;
  /** Accepted for compatibility; the metadata of a chunk always contains its position. */
  addStartIndex?: boolean;
  /** Titles, summaries and other metadata for each chunk, see `MDocument.extractMetadata`. */
  extract?: ExtractParams;
}

/** Option of the strategies whose sizes are not tokens. */
export interface MeasureOptions {
  /** Function that returns the size of a text, instead of `text.length`. It is called several times for each chunk. */
  lengthFunction?: (text: string) => number;
}

/** Options before they are checked. */
export type RawOptions = Readonly<Record<string, unknown>>;

export function invalidOptions(message: string, cause?: unknown): QuiverError {
  return new QuiverError('CHUNK_OPTIONS_INVALID', message, cause === undefined ? {} : { cause });
}

/** Formats a value for an error message. */
export function show(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Metadata keys that a chunk has anyway. */
const reservedKeys: ReadonlySet<string> = new Set(['startIndex', 'endIndex', 'headings', '__proto__']);

const defaultMaxSize = 4000;
const defaultOverlap = 50;

/**
 * Reads and checks the options of a strategy one by one, and remembers their names: options that nothing has read are unknown.
 *
 * Every method throws `CHUNK_OPTIONS_INVALID` for an invalid value.
 */
export class OptionReader {
  readonly #strategy: string;
  readonly #options: RawOptions;
  readonly #known = ['strategy'];

  constructor(strategy: string, options: RawOptions) {
    this.#strategy = strategy;
    this.#options = options;
  }

  /** Returns the value of an option with one name or two. Two different values are an error. */
  value(name: string, alias?: string): unknown {
    this.#known.push(name, ...(alias === undefined ? [] : [alias]));
    const first = this.#options[name];
    const second = alias === undefined ? undefined : this.#options[alias];
    if (first !== undefined && second !== undefined && first !== second)
      throw invalidOptions(`${name} and ${alias} are two spellings of one option and were given different values.`);
    return first ?? second;
  }

  boolean(name: string, fallback: boolean): boolean {
    const value = this.value(name) ?? fallback;
    if (typeof value === 'boolean') return value;
    throw invalidOptions(`${name} must be true or false, not ${show(value)}.`);
  }

  /** @param limits.maxSize - the option must not exceed it */
  wholeNumber(name: string, limits: { fallback: number; least?: number; maxSize?: number; alias?: string }): number {
    const { fallback, least = 0, maxSize = Number.POSITIVE_INFINITY, alias } = limits;
    const value = (this.value(name, alias) ?? fallback) as number;
    if (!Number.isSafeInteger(value) || value < least)
      throw invalidOptions(`${name} must be a whole number of at least ${least}, not ${show(value)}.`);
    if (value > maxSize) throw invalidOptions(`${name} (${value}) must not exceed maxSize (${maxSize}).`);
    return value;
  }

  oneOf<Value extends string>(name: string, known: readonly Value[]): Value | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : requireOneOf(name, value, known);
  }

  /** Reads a string or a list of strings as a list. */
  strings(name: string, alias?: string): readonly string[] | undefined {
    const value = this.value(name, alias);
    if (value === undefined) return undefined;
    const list: unknown = typeof value === 'string' ? [value] : value;
    if (Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string'))
      return list as string[];
    throw invalidOptions(`${name} must be a string or a list of strings, not ${show(value)}.`);
  }

  /** Reads pairs of a mark and a metadata key, such as `[['h1', 'title']]`. `parseMark` returns `undefined` for an invalid mark. */
  pairs<Mark>(
    name: string,
    parseMark: (mark: string, index: number) => Mark | undefined,
  ): ReadonlyMap<Mark, string> | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw invalidOptions(`${name} must be a list of pairs, not ${show(value)}.`);
    return new Map(
      value.map((pair: unknown, index) => {
        const [mark, key] = Array.isArray(pair) ? (pair as unknown[]) : [];
        const parsed = typeof mark === 'string' ? parseMark(mark.trim(), index) : undefined;
        if (parsed === undefined || typeof key !== 'string' || key === '' || reservedKeys.has(key))
          throw invalidOptions(`${name} must hold pairs of a mark and a metadata key, not ${JSON.stringify(pair)}.`);
        return [parsed, key];
      }),
    );
  }

  /** Reads the common options. `inTokens` excludes `lengthFunction`. */
  common(presets: { overlap?: number; separatorPosition?: SeparatorPosition; inTokens?: boolean } = {}): PackOptions {
    const maxSize = this.wholeNumber('maxSize', { fallback: defaultMaxSize, least: 1, alias: 'size' });
    const usual = Math.min(presets.overlap ?? defaultOverlap, Math.floor(maxSize / 4));
    const overlap = this.wholeNumber('overlap', { fallback: usual });
    if (overlap >= maxSize)
      throw invalidOptions(
        `overlap (${overlap}) must be less than maxSize (${maxSize}). Reduce one or raise the other.`,
      );
    const measure = presets.inTokens ? undefined : this.value('lengthFunction');
    if (measure !== undefined && typeof measure !== 'function')
      throw invalidOptions(`lengthFunction must be a function from a text to its size, not ${show(measure)}.`);
    this.boolean('addStartIndex', true);
    return {
      maxSize,
      overlap,
      stripWhitespace: this.boolean('stripWhitespace', true),
      separatorPosition: this.#separatorPosition(presets.separatorPosition ?? 'end'),
      // The result of a function of the caller is checked at every call.
      ...(measure !== undefined && { measure: measure as Measure }),
    };
  }

  #separatorPosition(fallback: SeparatorPosition): SeparatorPosition {
    const value = this.value('separatorPosition', 'keepSeparator') ?? fallback;
    if (value === true || value === 'start') return 'start';
    if (value === false || value === 'end') return 'end';
    throw invalidOptions(`separatorPosition must be 'start' or 'end', not ${show(value)}.`);
  }

  /** @throws `CHUNK_OPTIONS_INVALID` for options that were not read */
  requireNoOthers(): void {
    const unknown = Object.keys(this.#options).filter(
      (name) => !this.#known.includes(name) && this.#options[name] !== undefined,
    );
    if (unknown.length === 0) return;
    throw invalidOptions(
      `Invalid parameters for ${this.#strategy} strategy: '${unknown.join(', ')}' not supported. Known: ${this.#known.join(', ')}.`,
    );
  }
}

export function requireOneOf<Value extends string>(name: string, value: unknown, known: readonly Value[]): Value {
  if ((known as readonly unknown[]).includes(value)) return value as Value;
  throw invalidOptions(`${name} must be one of ${known.join(', ')}, not ${show(value)}.`);
}
