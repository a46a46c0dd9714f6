import type { SkippedText } from '@quiver/rag/document';
import { partsOfLines, toLines, type Line } from './line-parts.js';

/** Pictures, also inside a link. Their parts have a limit, so that the time stays linear. */
const pictures =
  /\[?!\[[^\]\n]{0,300}\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,300}\])(?:\]\([^)\n]{0,1000}\)|\]\[[^\]\n]{0,300}\])?/g;
/** Tags and comments. */
const markup = /<!--[^\n]{0,1000}?-->|<\/?[a-z][^<>\n]{0,2000}>/gi;
/** An item that is a link within the page. */
const contentsItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[^\]\n]{1,300}\]\(#[^)\n]{0,300}\)\s*$/;
const contentsTitle = /^[*_#\s]*(?:table of )?contents[*_:\s]*$/i;
const rule = /^\s{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
/** Fewer links are part of a text. */
const fewestItems = 3;
const separators = /&nbsp;|[\s|·•&;,-]/g;

/**
 * Returns the lines of a Markdown text that are not searched: those that consist of badges and other pictures, or of HTML without text, with
 * the rules next to them, and lists of links within the page.
 */
export function findMarkdownParts(text: string): SkippedText[] {
  if (!/!\[|<|\]\(#/.test(text)) return [];
  const lines = toLines(text);
  let fence = '';
  const kinds = lines.map(({ text: line }) => {
    const [, mark = ''] = /^\s{0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence !== '') {
      if (mark.startsWith(fence)) fence = '';
      return undefined;
    }
    if (mark !== '') fence = mark;
    if (mark !== '') return undefined;
    if (line.includes('](#') && contentsItem.test(line)) return 'contents';
    if (!/!\[|<|&nbsp;/.test(line)) return undefined;
    const rest = line.replace(pictures, '').replace(markup, '');
    return rest.replace(separators, '') === '' ? 'badges' : undefined;
  });
  const filled = lines.flatMap(({ text: line }, index) => (line.trim() === '' ? [] : [index]));
  skipRules(lines, kinds, filled);
  skipContents(lines, kinds, filled);
  return partsOfLines(lines, kinds);
}

type Kinds = (string | undefined)[];

/** Skips the rules next to badges. A line of dashes right below a text is the mark of a heading. */
function skipRules(lines: readonly Line[], kinds: Kinds, filled: readonly number[]): void {
  for (const [at, index] of filled.entries()) {
    const [before = -1, behind = -1] = [filled[at - 1], filled[at + 1]];
    const isBeside = kinds[before] === 'badges' || kinds[behind] === 'badges';
    if (isBeside && before < index - 1 && rule.test(lines[index]!.text)) kinds[index] = 'badges';
  }
}

/** Skips the title of a list of links, and searches a list of a few. */
function skipContents(lines: readonly Line[], kinds: Kinds, filled: readonly number[]): void {
  for (let at = 0; at < filled.length; at += 1) {
    const start = at;
    while (at < filled.length && kinds[filled[at]!] === 'contents') at += 1;
    if (at - start === 0) continue;
    if (at - start < fewestItems) for (const index of filled.slice(start, at)) kinds[index] = undefined;
    else if (start > 0 && contentsTitle.test(lines[filled[start - 1]!]!.text)) kinds[filled[start - 1]!] = 'contents';
  }
}
