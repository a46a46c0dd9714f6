import { endOfWhiteSpace } from '../document/chunking/text-boundary.js';
import { endOfListMarker } from './find-quotes.js';
import { foldQuote } from './fold-text.js';

/** Content of a quote in the form of the search. */
export interface QuoteContent {
  /** Folded parts between gaps, without a last comma or period. */
  readonly parts: readonly Uint16Array[];
  /** Gaps before the parts; the one before the first part has no meaning. */
  readonly gaps: readonly Gap[];
  readonly punctuation: number | undefined;
}

/** Text that a quote leaves out: that of an ellipsis, or the marker of a list item where a line ends. */
export type Gap = 'ellipsis' | 'break';

/** @param marks - flags of the code units to leave out */
export function toContent(text: string, marks?: Uint8Array): QuoteContent {
  const parts: Uint16Array[] = [];
  const gaps: Gap[] = [];
  let gap: Gap = 'break';
  let from = endOfListMarker(text, 0);
  /** @param next - the gap after the part */
  const add = (to: number, next: Gap): void => {
    const units = foldQuote(text.slice(from, to), marks?.subarray(from, to));
    if (units.length > 0) {
      parts.push(units);
      gaps.push(gap);
      gap = next;
    } else if (next === 'ellipsis') gap = next;
  };
  for (let at = from; at < text.length; at += 1) {
    const ellipsis = ellipsisEnd(text, at);
    if (ellipsis > at) {
      const isBracketed =
        (text[at - 1] === '[' && text[ellipsis] === ']') || (text[at - 1] === '(' && text[ellipsis] === ')');
      add(isBracketed ? at - 1 : at, 'ellipsis');
      from = isBracketed ? ellipsis + 1 : ellipsis;
      at = from - 1;
    } else if (text[at] === '\n') {
      const line = endOfWhiteSpace(text, at, text.length);
      const item = endOfListMarker(text, line);
      if (item > line || text.slice(at + 1, line).includes('\n')) {
        add(at, 'break');
        from = item;
      }
      at = Math.max(line, item) - 1;
    }
  }
  add(text.length, 'break');
  const last = parts.at(-1);
  const punctuation =
    last && last.length > 1 && (last.at(-1) === comma || last.at(-1) === period) ? last.at(-1) : undefined;
  if (last && punctuation !== undefined) parts[parts.length - 1] = last.subarray(0, -1);
  return { parts, gaps, punctuation };
}

const comma = 0x2c;
const period = 0x2e;

/** Returns the end of an ellipsis, `…` or at least three dots, which may have spaces between them; `at` where none begins. */
function ellipsisEnd(text: string, at: number): number {
  if (text[at] === '…') return at + 1;
  let end = at;
  let dots = 0;
  for (let next = at; text[next] === '.'; next = text[end] === ' ' ? end + 1 : end) {
    dots += 1;
    end = next + 1;
  }
  return dots < 3 ? at : end;
}
