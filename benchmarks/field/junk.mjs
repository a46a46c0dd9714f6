// Kinds of passages that answer nothing, told by their text alone, so that passages of every system can be counted.
import { stripMarkup } from './match.mjs';

/** Characters below which a passage says too little. */
const minCharacters = 40;

/**
 * Returns why a passage is of no use, or `undefined`: `separator` (lines and bars only), `short`, `heading` (nothing below it),
 * `contents` (entries of a table of contents or of an index) or `navigation` (links of a page).
 */
export function kindOfJunk(text, source) {
  const lines = linesOf(text);
  if (lines.every((line) => /^[\s|:+=*_\-–—.#]*$/.test(line))) return 'separator';
  const plain = stripMarkup(text, source).replaceAll(/\s+/g, ' ').trim();
  if (isHeading(lines)) return 'heading';
  if (plain.length < minCharacters) return 'short';
  if (isContents(lines)) return 'contents';
  return isNavigation(text, lines) ? 'navigation' : undefined;
}

function linesOf(text) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

const markdownHeading = /^#{1,6}\s/;
const underline = /^(?:={3,}|-{3,}|~{3,})$/;

/** One heading, or several, without text: marked as such, or up to three short lines in the form of titles. */
function isHeading(lines) {
  const own = lines.filter((line) => !underline.test(line));
  const isMarked = (line) => markdownHeading.test(line) || /^\*\*[^*]+\*\*$/.test(line);
  if (own.every((line) => isMarked(line) && !isSentence(line))) return true;
  return own.length <= 3 && own.join('').length < 120 && own.every(isTitle);
}

/** Text that a loader took for a heading. */
function isSentence(line) {
  return line.length > 100 && /[.:;]$/.test(line);
}

/** A short line in the form of a title: it begins with a number or a capital, ends without punctuation, and holds no cells or code. */
function isTitle(line) {
  if (leader.test(line)) return false;
  return /^(?:[\d.]+\s|(?:chapter|appendix)\s|(?:next|previous) topic$)?\p{Lu}[^|=;{}`<>$]{1,70}[^.,:;!?|]$/u.test(
    line,
  );
}

const leader = /(?:\.\s?){4,}\s*[\divxlc]+$/i;
const numberedEntry = /^(?:[-*+]\s*)?\[?(?:\d+\.)*\d+\.?\)?\s+\p{L}[^.!?]{1,70}(?:\s\d+)?\]?(?:\([^)]*\))?$/u;

function isContents(lines) {
  if (lines.length < 3) return false;
  const length = lines.join('').length;
  const share = (test) => lines.filter(test).join('').length / length;
  if (share((line) => leader.test(line)) >= 0.5) return true;
  if (/^(?:#+\s*)?(?:table of )?contents$/i.test(lines[0] ?? '') && share(isEntry) >= 0.7) return true;
  return lines.length >= 5 && share((line) => numberedEntry.test(line)) >= 0.7;
}

/** A short line without a sentence. */
function isEntry(line) {
  return line.length <= 70 && !/[.!?:;]$|[|={}]/.test(line);
}

const controls = new Set(
  `next previous prev up home index modules navigation contents search go source help top back menu package class use tree deprecated
  overview summary nested field constr method detail light dark auto rust coal navy ayu edit download license
  table this page show report bug quick skip to main on theme all classes files members data structures related pages
  frames no`.split(/\s+/),
);

/** Links, or the names of a page's controls, with next to no text. */
function isNavigation(text, lines) {
  const linked = [...text.matchAll(/\[([^\]]*)\]\([^)]*\)/g)].reduce((sum, [, label]) => sum + label.length, 0);
  const letters = text.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/[^\p{L}\p{N}]/gu, '').length;
  if (linked > 0 && lines.length >= 3 && linked >= letters * 0.8) return true;
  const controlled = lines.filter((line) => {
    const words = line.toLowerCase().match(/\p{L}+/gu) ?? [];
    return words.length > 0 && words.length <= 5 && words.every((word) => controls.has(word));
  });
  const entries = lines.filter((line) => isEntry(line) && !/[()]/.test(line));
  return controlled.length >= 2 && (controlled.length + entries.length) / 2 >= lines.length * 0.45;
}

/**
 * Counts the flaws of all chunks of an index.
 *
 * `cutTerm`: the last line is a heading or a short line that introduces what the next chunk says (an upper bound). `rowsWithoutHeader`:
 * rows of a table without the line that separates them from their header. `duplicate`: the same text as an earlier chunk.
 */
export function countFlaws(chunks) {
  const counts = { heading: 0, navigation: 0, contents: 0, short: 0, separator: 0, duplicate: 0, cutTerm: 0 };
  const all = { ...counts, rowsWithoutHeader: 0, permalink: 0 };
  const seen = new Set();
  for (const { text, source } of chunks) {
    const kind = kindOfJunk(text, source);
    if (kind) all[kind] += 1;
    else if (endsWithTerm(text)) all.cutTerm += 1;
    const key = text.replaceAll(/\s+/g, ' ').trim();
    if (seen.has(key)) all.duplicate += 1;
    seen.add(key);
    if (hasRowsWithoutHeader(text)) all.rowsWithoutHeader += 1;
    if (text.includes('¶')) all.permalink += 1;
  }
  return all;
}

function endsWithTerm(text) {
  const lines = text.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  if (lines.length < 3 || lines.at(-2).trim() !== '') return false;
  if (markdownHeading.test(last)) return true;
  return /^\s*[-\p{L}$_*`][^|]{0,58}[^\s.,:;!?|)}\]>]¶?$/u.test(last) && !/^\s*[-*+>]\s|^\s{4}|```/.test(last);
}

function hasRowsWithoutHeader(text) {
  const lines = linesOf(text);
  const rows = lines.filter((line) => /^\|.*\|$/.test(line));
  return (
    rows.length > 0 && rows.length >= lines.length / 2 && !rows.some((line) => /^\|(?:\s*:?-{3,}:?\s*\|)+$/.test(line))
  );
}
