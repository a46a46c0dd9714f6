import { type Line } from './pdf-lines.js';

/** Least number of entries of a list, and of entries with leader dots on a page with other text. */
const leastEntries = 8;
const leastLeaders = 3;

const leaders = /(?:[.·…]\s?){4,}\s*(?:(?:\d{1,4}(?:, ?|$)){1,20}|[ivxlc]{1,7})$/;
const entry = /\s(\d{1,4})$/;
const term = /^[^\p{L}]{0,3}(\p{L}).{0,100}?[\s,]\d{1,4}(?:(?:, ?|[–-])\d{1,4}){0,40}\.?$/u;

/**
 * Finds the lines of tables of contents and indexes on a page: lists of page numbers, which have the words of all questions and no answer.
 *
 * @param before - kind of list with which the page before ends, which may continue
 */
export function findLists(lines: readonly Line[], before: string | undefined): Map<Line, string> {
  const texts = lines.map(({ text }) => text);
  const least = (kind: string): number => Math.max(before === kind ? 2 : leastEntries, lines.length / 2);
  const whole = (kind: string): Map<Line, string> => new Map(lines.map((line) => [line, kind]));
  const led = texts.filter((text) => leaders.test(text.slice(-100)));
  const numbers = texts
    .flatMap((text) => (/\p{L}{2}/u.test(text) ? (entry.exec(text.slice(-6))?.[1] ?? []) : []))
    .map(Number);
  if (led.length >= least('contents')) return whole('contents');
  const terms = texts.flatMap((text) => term.exec(text.slice(0, 250))?.[1]?.toLowerCase() ?? []);
  if (terms.length >= least('index') && isSorted(terms)) return whole('index');
  if (numbers.length >= least('contents') && isSorted(numbers)) return whole('contents');
  if (led.length < leastLeaders) return new Map();
  return new Map(lines.flatMap((line, at) => (leaders.test(texts[at]!.slice(-100)) ? [[line, 'contents']] : [])));
}

/** Whether most of the values are not less than the one before. */
function isSorted(values: readonly (number | string)[]): boolean {
  const ordered = values.filter((value, index) => index === 0 || values[index - 1]! <= value);
  return ordered.length >= values.length * 0.85;
}
