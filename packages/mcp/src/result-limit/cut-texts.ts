import { cutLongestArray, type CutJson } from './cut-json.js';
import { findCut } from './cut-text.js';
import type { SizeLimit } from './size-limit.js';

export interface Extent {
  readonly unit: 'elements' | 'characters';
  /** Number of elements or characters before the cut. */
  readonly total: number;
  /** Number of the first one that is left out. */
  readonly next: number;
}

export interface CutTexts extends Extent {
  /** The texts by their position; `undefined` for those that are left out. */
  readonly texts: readonly (string | undefined)[];
}

/**
 * Cuts the texts of a result so that together they are within a limit: one JSON text at a whole element of its longest array, other texts
 * between two characters.
 *
 * @returns `undefined` when the texts are within the limit
 */
export function cutTexts(texts: readonly string[], limit: SizeLimit): CutTexts | undefined {
  const whole = texts.join('\n');
  const within = limit.lengthWithin(whole);
  if (within === whole.length) return undefined;
  const cut = texts.length === 1 ? cutJsonText(whole, limit) : undefined;
  if (cut)
    return {
      texts: [JSON.stringify(cut.marked)],
      unit: 'elements',
      total: cut.total,
      next: cut.next,
    };
  const next = findCut(whole, within);
  let start = 0;
  const shown = texts.map((text) => {
    const begin = start;
    start += text.length + 1;
    return begin < next ? text.slice(0, next - begin) : undefined;
  });
  return { texts: shown, unit: 'characters', total: whole.length, next };
}

export const advice = 'Call the tool with arguments that return less.';

/** Long numbers would be rounded. */
const longNumber = /[[:,\s]-?\d{16}/;

/** @returns `undefined` for a text that is not JSON, or is nested too deep to be written as JSON again */
function cutJsonText(text: string, limit: SizeLimit): CutJson | undefined {
  if (!/^\s*[[{]/.test(text) || longNumber.test(text)) return undefined;
  try {
    return cutLongestArray(JSON.parse(text), limit);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns the sentences that say what is missing, and what to do. */
export function describeCut({ unit, total, next }: Extent): string {
  return `The result was cut because it is too long: the first ${next} of ${total} ${unit} are shown. ${advice}`;
}
