import { endOfWhiteSpace } from '../document/chunking/text-boundary.js';
import { codeSpans, endOfListMarker, endOfRun } from './find-quotes.js';

/**
 * An escaped character, backticks, the start of a link, and its end with the address. An address has parentheses at most one level deep, so that
 * the pattern runs in linear time.
 */
const inlineMarks = /\\[!-/:-@[-`{-~]|`|!?\[|\](?:\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*\))?/g;

/**
 * Returns the characters of a Markdown text that a reader of the rendered page does not see, as a flag per UTF-16 code unit: backticks of
 * code spans, and backslashes of escapes. `isSource` adds the marks and addresses of links, and markers of list items. A list begins
 * after a blank line, so that a number at the start of a line of a paragraph counts.
 */
export function findMarkdownMarks(text: string, isSource: boolean): Uint8Array {
  const marks = new Uint8Array(text.length);
  if (isSource) markListMarkers(text, marks);
  const skipCode = codeSpans(text, text.length);
  const links: { start: number; end: number }[] = [];
  inlineMarks.lastIndex = 0;
  for (let match = inlineMarks.exec(text); match; match = inlineMarks.exec(text)) {
    const { 0: mark, index } = match;
    const end = index + mark.length;
    if (mark === '`') {
      const endOfSpan = skipCode(index);
      inlineMarks.lastIndex = endOfSpan;
      const run = endOfRun(text, index) - index;
      if (endOfSpan > index + run) marks.fill(1, index, index + run).fill(1, endOfSpan - run, endOfSpan);
    } else if (mark[0] === '\\') marks[index] = 1;
    else if (!isSource) continue;
    else if (mark.endsWith('[')) links.push({ start: index, end });
    else {
      const link = links.pop();
      if (link && mark !== ']') marks.fill(1, link.start, link.end).fill(1, index, end);
    }
  }
  return marks;
}

function markListMarkers(text: string, marks: Uint8Array): void {
  let isAfterBlank = true;
  let isInList = false;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const first = endOfWhiteSpace(text, start, end);
    const item = Math.min(end, endOfListMarker(text, first));
    const isItem: boolean = item > first && (isAfterBlank || isInList);
    if (isItem) marks.fill(1, first, item);
    isAfterBlank = first === end;
    isInList = isItem || (isInList && !isAfterBlank);
    start = end + 1;
  }
}
