import { endOfWhiteSpace, isWhiteSpace, startOfWhiteSpace } from '../document/chunking/text-boundary.js';

/** A quote in a text. */
export interface Quote {
  /** Text between the marks; of a block quote, its lines without `>`. */
  text: string;
  /** Place in the text, without the marks, in UTF-16 code units. */
  start: number;
  end: number;
}

/**
 * Returns the quotes of a Markdown text in order: “…”, "…", «…», »…«, „…“, and each paragraph of a block quote. Quotation marks in code are
 * not read, a quote ends with its paragraph, and of nested quotes the outermost counts. Runs in linear time.
 */
export function findQuotes(text: string): Quote[] {
  const quotes: Quote[] = [];
  let paragraph: { start: number; end: number } | undefined;
  let block: { lines: string[]; start: number; end: number } | undefined;
  let fence = '';
  const endParagraph = (): void => {
    for (const quote of paragraph ? quotesInParagraph(text, paragraph.start, paragraph.end) : []) quotes.push(quote);
    paragraph = undefined;
  };
  const endBlock = (): void => {
    if (block) quotes.push(withoutMarks({ text: block.lines.join('\n'), start: block.start, end: block.end }));
    block = undefined;
  };
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const first = endOfWhiteSpace(text, start, end);
    const mark = fenceAt(text, first, end);
    if (fence !== '') {
      if (mark.startsWith(fence) && endOfWhiteSpace(text, first + mark.length, end) === end) fence = '';
    } else if (mark !== '') {
      endParagraph();
      endBlock();
      fence = mark;
    } else if (text[first] === '>') {
      endParagraph();
      let from = first;
      while (from < end && (text[from] === '>' || isWhiteSpace(text.charCodeAt(from)))) from += 1;
      const to = startOfWhiteSpace(text, from, end);
      if (from === to) endBlock();
      else {
        block ??= { lines: [], start: from, end: to };
        block.lines.push(text.slice(from, to));
        block.end = to;
      }
    } else {
      endBlock();
      if (first === end) endParagraph();
      else paragraph = { start: paragraph?.start ?? start, end };
    }
    start = end + 1;
  }
  endParagraph();
  endBlock();
  return quotes;
}

/** Returns the marks of a code fence, at least three, or an empty text. A line with further backticks contains a code span. */
function fenceAt(text: string, at: number, end: number): string {
  const mark = text[at];
  if (mark !== '`' && mark !== '~') return '';
  let to = at;
  while (to < end && text[to] === mark) to += 1;
  if (to - at < 3 || (mark === '`' && text.slice(to, end).includes('`'))) return '';
  return text.slice(at, to);
}

const [curlyOpen, curlyClose, low, left, right] = ['\u201c', '\u201d', '\u201e', '\u00ab', '\u00bb'];

function quotesInParagraph(text: string, from: number, to: number): Quote[] {
  const found: Quote[] = [];
  /** Starts of the open quotes, by their opening mark. */
  const open = new Map<string, number[]>();
  const begin = (mark: string, at: number): void => {
    const starts = open.get(mark);
    if (starts) starts.push(at + 1);
    else open.set(mark, [at + 1]);
  };
  /** Ends the last quote that began with one of the marks. */
  const finish = (marks: readonly string[], at: number): boolean => {
    const start = marks
      .map((mark) => open.get(mark))
      .find((starts) => starts?.length)
      ?.pop();
    if (start !== undefined) found.push(trimmed(text, start, at));
    return start !== undefined;
  };
  const skipCode = codeSpans(text, to);
  for (let at = from; at < to; at += 1) {
    const mark = text[at]!;
    if (mark === '`') at = skipCode(at) - 1;
    else if (mark === '"') {
      const before = at === from ? ' ' : text[at - 1]!;
      const isAfterSpace = isWhiteSpace(before.charCodeAt(0));
      if (!isAfterSpace && finish(['"'], at)) continue;
      const isOpening = at + 1 < to && !isWhiteSpace(text.charCodeAt(at + 1)) && !/[\p{L}\p{N}]/u.test(before);
      if (isOpening) open.set('"', [at + 1]);
    } else if (mark === low) begin(low, at);
    else if (mark === curlyOpen) {
      if (!finish([low], at)) begin(curlyOpen, at);
    } else if (mark === curlyClose) finish([curlyOpen, low], at);
    else if (mark === left) {
      if (!finish([right], at)) begin(left, at);
    } else if (mark === right && !finish([left], at)) begin(right, at);
  }
  return outermost(found);
}

function trimmed(text: string, from: number, to: number): Quote {
  const start = endOfWhiteSpace(text, from, to);
  const end = startOfWhiteSpace(text, start, to);
  return { text: text.slice(start, end), start, end };
}

function outermost(quotes: readonly Quote[]): Quote[] {
  const kept: Quote[] = [];
  for (const quote of quotes.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (!last || quote.start >= last.end) kept.push(quote);
  }
  return kept;
}

/** Longer runs of backticks are text, which bounds the search. */
const longestRun = 3;

/** Returns a function that returns the end of the code span at a backtick, or of the run of backticks if it is not closed. */
function codeSpans(text: string, end: number): (at: number) => number {
  const unclosed = new Set<number>();
  const runAt = (at: number): number => {
    let to = at;
    while (to < end && text[to] === '`') to += 1;
    return to - at;
  };
  return (at) => {
    const length = runAt(at);
    if (length > longestRun || unclosed.has(length)) return at + length;
    for (let next = at + length; next < end;) {
      next = text.indexOf('`', next);
      if (next === -1 || next >= end) break;
      const run = runAt(next);
      next += run;
      if (run === length) return next;
    }
    unclosed.add(length);
    return at + length;
  };
}

const marks: ReadonlySet<string | undefined> = new Set(['"', curlyOpen, curlyClose, low, left, right]);

/** Removes marks around a whole block quote. */
function withoutMarks({ text, start, end }: Quote): Quote {
  if (text.length < 2 || !marks.has(text[0]) || !marks.has(text.at(-1))) return { text, start, end };
  return { text: text.slice(1, -1).trim(), start: start + 1, end: end - 1 };
}
