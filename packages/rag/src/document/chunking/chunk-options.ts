import { QuiverError } from '@quiver/core';
import {
  anyValue,
  booleanValue,
  checkOptions,
  functionValue,
  oneOf,
  type OptionCheck,
  readAlias,
  valueThat,
  wholeNumber,
} from '@quiver/core/internal';
import { fixedKeys } from '../metadata-keys.js';
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

/** Option of the strategies that join small chunks. */
export interface MinSizeOptions {
  /**
   * Size below which a chunk joins its neighbor in the same section; at most `maxSize`. Default 200, or a quarter of `maxSize` if that is
   * less. A smaller chunk remains where the neighbor leaves no room, and where a section is smaller.
   */
  minSize?: number;
}

/** Options before they are checked. */
export type RawOptions = Readonly<Record<string, unknown>>;

const settings = { code: 'CHUNK_OPTIONS_INVALID' };

export function invalidOptions(message: string, cause?: unknown): QuiverError {
  return new QuiverError(settings.code, message, cause === undefined ? {} : { cause });
}

const defaultMaxSize = 4000;
const defaultOverlap = 50;
export const defaultMinSize = 200;

interface CommonPresets {
  readonly overlap?: number;
  readonly separatorPosition?: SeparatorPosition;
  readonly inTokens?: boolean;
  /** Default of `minSize`, unless a quarter of `maxSize` is less. Without it, there is no such option. */
  readonly minSize?: number;
}

/** A check for each smallest number: making one takes longer than reading an option. */
const counts = [wholeNumber(0), wholeNumber(1)] as const;
const pairList = valueThat(Array.isArray, 'a list of pairs');
const positions = oneOf('start', 'end', true, false);
const textList = valueThat((value) => {
  const list: unknown = typeof value === 'string' ? [value] : value;
  return Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string');
}, 'a string or a list of strings');

/**
 * Reads and checks the options of a strategy one by one, and remembers their names: options that nothing has read are unknown.
 *
 * Every method throws `CHUNK_OPTIONS_INVALID` for an invalid value.
 */
export class OptionReader {
  readonly #owner: string;
  readonly #options: RawOptions;
  readonly #checks: Record<string, OptionCheck> = { strategy: anyValue, extract: anyValue };

  constructor(strategy: string, options: RawOptions) {
    this.#owner = `The strategy '${strategy}'`;
    this.#options = options;
  }

  /** Returns the value of an option with one name or two, if it passes the check. Two different values are an error. */
  value<Value>(name: string, check: OptionCheck, alias: string = name): Value | undefined {
    this.#checks[name] = check;
    this.#checks[alias] = check;
    const value = name === alias ? this.#options[name] : readAlias(this.#owner, this.#options, [name, alias], settings);
    const given = this.#options[name] === undefined ? alias : name;
    const problem = value === undefined ? undefined : check(value, given);
    if (problem !== undefined) throw invalidOptions(`${this.#owner}: ${problem}`);
    // The check accepts values of this type only.
    return value as Value | undefined;
  }

  /** Returns whether an option has a value, under one of its names. */
  isGiven(...names: readonly string[]): boolean {
    return names.some((name) => this.#options[name] !== undefined);
  }

  boolean(name: string, fallback: boolean): boolean {
    return this.value<boolean>(name, booleanValue) ?? fallback;
  }

  /** @param limits.maxSize - the option must not exceed it */
  wholeNumber(name: string, limits: { fallback: number; least?: 0 | 1; maxSize?: number; alias?: string }): number {
    const { fallback, least = 0, maxSize = Number.POSITIVE_INFINITY, alias } = limits;
    const value = this.value<number>(name, counts[least], alias) ?? fallback;
    if (value > maxSize)
      throw invalidOptions(`${this.#owner}: '${name}' (${value}) must not exceed 'maxSize' (${maxSize}).`);
    return value;
  }

  /** Reads a string or a list of strings as a list. */
  strings(name: string, alias?: string): readonly string[] | undefined {
    const value = this.value<string | readonly string[]>(name, textList, alias);
    return typeof value === 'string' ? [value] : value;
  }

  /** Reads pairs of a mark and a metadata key, such as `[['h1', 'title']]`. `parseMark` returns `undefined` for an invalid mark. */
  pairs<Mark>(
    name: string,
    parseMark: (mark: string, index: number) => Mark | undefined,
  ): ReadonlyMap<Mark, string> | undefined {
    const value = this.value<readonly unknown[]>(name, pairList);
    if (value === undefined) return undefined;
    return new Map(
      value.map((pair, index) => {
        const [mark, key] = Array.isArray(pair) ? (pair as unknown[]) : [];
        const parsed = typeof mark === 'string' ? parseMark(mark.trim(), index) : undefined;
        if (parsed === undefined || typeof key !== 'string' || key === '' || fixedKeys.has(key))
          throw invalidOptions(
            `${this.#owner}: '${name}' must hold pairs of a mark and a metadata key, not ${JSON.stringify(pair)}.`,
          );
        return [parsed, key];
      }),
    );
  }

  /** Reads the common options. `inTokens` excludes `lengthFunction`. */
  common(presets: CommonPresets = {}): PackOptions {
    const maxSize = this.wholeNumber('maxSize', { fallback: defaultMaxSize, least: 1, alias: 'size' });
    const usual = Math.min(presets.overlap ?? defaultOverlap, Math.floor(maxSize / 4));
    const overlap = this.wholeNumber('overlap', { fallback: usual });
    if (overlap >= maxSize)
      throw invalidOptions(
        `${this.#owner}: 'overlap' (${overlap}) must be less than 'maxSize' (${maxSize}). Reduce one or raise the other.`,
      );
    const measure = presets.inTokens ? undefined : this.value<Measure>('lengthFunction', functionValue);
    const fallback = Math.min(presets.minSize ?? 0, Math.floor(maxSize / 4));
    const minSize = presets.minSize === undefined ? 0 : this.wholeNumber('minSize', { fallback, maxSize });
    this.boolean('addStartIndex', true);
    const position =
      this.value<boolean | string>('separatorPosition', positions, 'keepSeparator') ?? presets.separatorPosition;
    return {
      maxSize,
      overlap,
      minSize,
      stripWhitespace: this.boolean('stripWhitespace', true),
      separatorPosition: position === true || position === 'start' ? 'start' : 'end',
      // The result of a function of the caller is checked at every call.
      ...(measure && { measure }),
    };
  }

  /** @throws `CHUNK_OPTIONS_INVALID` for options that were not read */
  requireNoOthers(): void {
    // Values were checked when they were read, and an index of the checks for each document would take as long as chunking a short one.
    if (Object.keys(this.#options).every((name) => Object.hasOwn(this.#checks, name))) return;
    checkOptions(this.#owner, this.#options, this.#checks, settings);
  }
}
