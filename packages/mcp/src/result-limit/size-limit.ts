import type { QuiverError } from '@quiver/core';
import { checkOptions, functionValue, type OptionChecks, wholeNumber, invalidOptions } from '@quiver/core/internal';
import type { ResultLimit } from '@quiver/core/tools';

/**
 * Base64 characters of all images, audio and files of a result with a limit in tokens, whose number does not depend on their size. Hosts
 * refuse results of 1 MB.
 */
const FILE_CHARACTERS = 750_000;

export interface SizeLimit {
  /** Base64 characters of all images, audio and files. */
  readonly fileCharacters: number;
  /** Returns the limit of the texts of a result whose files have a number of base64 characters. */
  without(fileCharacters: number): SizeLimit;
  /** Returns the length of the longest start of a text that is within the limit, in UTF-16 code units. */
  lengthWithin(text: string): number;
}

interface ResultLimitOptions {
  characters?: number;
  tokens?: number;
  countTokens?: (text: string) => number;
}

const checks: OptionChecks<ResultLimitOptions> = {
  characters: wholeNumber(1),
  tokens: wholeNumber(1),
  countTokens: functionValue,
};

/** @throws `OPTIONS_INVALID` */
export function parseResultLimit(limit: ResultLimit): SizeLimit {
  const given: ResultLimitOptions = limit;
  checkOptions('resultLimit', given, checks);
  const { characters, tokens, countTokens } = given;
  if ((characters === undefined) === (tokens === undefined)) throw invalid('it needs either characters or tokens');
  const maximum = characters ?? tokens;
  if (countTokens !== undefined && tokens === undefined) throw invalid('countTokens belongs to tokens');
  // Checked above.
  const size = maximum as number;
  if (characters !== undefined) return limitCharacters(size);
  const limited: SizeLimit = {
    fileCharacters: FILE_CHARACTERS,
    without: () => limited,
    lengthWithin: (text) => (countTokens ? searchLength(text, size, countTokens) : lengthOfTokens(text, size)),
  };
  return limited;
}

function limitCharacters(size: number): SizeLimit {
  return {
    fileCharacters: size,
    without: (fileCharacters) => limitCharacters(size - fileCharacters),
    lengthWithin: (text) => Math.min(text.length, size),
  };
}

function invalid(reason: string): QuiverError {
  return invalidOptions(
    `resultLimit cannot be used: ${reason}. Use { characters: 50_000 }, { tokens: 20_000 } or { tokens, countTokens }.`,
  );
}

/** Tokens per UTF-16 code unit: letters and spaces, other ASCII, other alphabets, ideographs and symbols. See the guide for the errors. */
const LETTER = 0.25;
const OTHER_ASCII = 0.6;
const OTHER_ALPHABET = 0.4;
const IDEOGRAPH = 0.9;

function lengthOfTokens(text: string, maximum: number): number {
  // No unit counts more than one token.
  if (text.length <= maximum) return text.length;
  let tokens = 0;
  for (let place = 0; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    const letter = unit | 0x20;
    if ((letter >= 0x61 && letter <= 0x7a) || unit === 0x20) tokens += LETTER;
    else if (unit < 0x80) tokens += OTHER_ASCII;
    else tokens += unit < 0x2e80 ? OTHER_ALPHABET : IDEOGRAPH;
    if (tokens > maximum) return place;
  }
  return text.length;
}

/** Counts starts of the text only a little longer than the limit: the text may be a thousand times longer. */
function searchLength(text: string, maximum: number, countTokens: (text: string) => number): number {
  const isWithin = (length: number): boolean => {
    const count = countTokens(text.slice(0, length));
    if (Number.isFinite(count) && count >= 0) return count <= maximum;
    throw invalidOptions(`countTokens of resultLimit returned ${String(count)}; it must return a number of tokens.`);
  };
  let within = 0;
  let beyond = Math.max(1, maximum * 4);
  while (beyond < text.length && isWithin(beyond)) [within, beyond] = [beyond, beyond * 2];
  if (beyond >= text.length) {
    if (isWithin(text.length)) return text.length;
    beyond = text.length;
  }
  while (beyond - within > 1) {
    const middle = (within + beyond) >> 1;
    if (isWithin(middle)) within = middle;
    else beyond = middle;
  }
  return within;
}
