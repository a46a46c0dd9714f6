import {
  anyValue,
  booleanValue,
  checkOptions,
  oneOf,
  type OptionChecks,
  resolveAliases,
  wholeNumber,
  invalidOptions,
} from '@quiver/core/internal';
import type { ExtractParams } from '../extract/extract-options.js';
import type { PackOptions, SeparatorPosition } from './pack-spans.js';

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

/** Options of the strategies that join small chunks. */
export interface MinSizeOptions extends CommonChunkOptions, MeasureOptions {
  /**
   * Size below which a chunk joins its neighbor in the same section; at most `maxSize`. Default 200, or a quarter of `maxSize` if that is
   * less. A smaller chunk remains where the neighbor leaves no room, and where a section is smaller.
   */
  minSize?: number;
}

/** Options before they are checked. */
export type RawOptions = Readonly<Record<string, unknown>>;

const positions = oneOf('start', 'end', true, false);

/** Checks of the options of every strategy. */
export const commonChecks: OptionChecks<CommonChunkOptions & { strategy?: string }> = {
  strategy: anyValue,
  maxSize: wholeNumber(1),
  size: wholeNumber(1),
  overlap: wholeNumber(0),
  stripWhitespace: booleanValue,
  separatorPosition: positions,
  keepSeparator: positions,
  addStartIndex: booleanValue,
  extract: anyValue,
};

const defaultMaxSize = 4000;
const defaultOverlap = 50;
export const defaultMinSize = 200;

/**
 * Checks the options of a strategy, and returns them under their first names.
 *
 * @throws `OPTIONS_INVALID` for an unknown option, an invalid value, or a size that does not fit in `maxSize`
 */
export function readOptions<Options extends CommonChunkOptions>(
  strategy: string,
  given: RawOptions,
  checks: OptionChecks<Options>,
): Options {
  const owner = `The strategy '${strategy}'`;
  checkOptions<RawOptions>(owner, given, checks);
  const options = resolveAliases(owner, given);
  // The checks accept values of these types only.
  const { maxSize = defaultMaxSize, overlap = 0 } = options as CommonChunkOptions;
  if (overlap >= maxSize)
    throw invalidOptions(
      `${owner}: 'overlap' (${overlap}) must be less than 'maxSize' (${maxSize}). Reduce one or raise the other.`,
    );
  for (const name of ['minSize', 'targetSize'])
    if ((options[name] as number) > maxSize)
      throw invalidOptions(`${owner}: '${name}' (${options[name]}) must not exceed 'maxSize' (${maxSize}).`);
  return options as Options;
}

/** Returns the common options, with these defaults. Each default size is at most a quarter of `maxSize`. */
export function toPackOptions(
  options: MinSizeOptions,
  defaults: { overlap?: number; minSize?: number; separatorPosition?: SeparatorPosition } = {},
): PackOptions {
  const { maxSize = defaultMaxSize, stripWhitespace = true, lengthFunction } = options;
  const quarter = Math.floor(maxSize / 4);
  const position: unknown = options.separatorPosition ?? defaults.separatorPosition;
  return {
    maxSize,
    overlap: options.overlap ?? Math.min(defaults.overlap ?? defaultOverlap, quarter),
    minSize: options.minSize ?? Math.min(defaults.minSize ?? 0, quarter),
    stripWhitespace,
    separatorPosition: position === true || position === 'start' ? 'start' : 'end',
    // The result of a function of the caller is checked at every call.
    ...(lengthFunction && { measure: lengthFunction }),
  };
}
