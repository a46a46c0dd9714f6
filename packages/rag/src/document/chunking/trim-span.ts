import { isGraphemeBoundary } from './grapheme-boundary.js';

/** White space as `String.prototype.trim` means it. */
export function isWhiteSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0xa0) return false;
  return (
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}

/** The first position from `start` that is not white space, or `end`. White space that carries an accent is not skipped. */
export function skipWhiteSpace(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isWhiteSpace(text.charCodeAt(at))) at++;
  while (at > start && at < end && !isGraphemeBoundary(text, at, start)) at--;
  return at;
}

/** The position after the last character before `end` that is not white space, or `start`. */
export function trimEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isWhiteSpace(text.charCodeAt(at - 1))) at--;
  while (at < end && !isGraphemeBoundary(text, at, start)) at++;
  return at;
}
