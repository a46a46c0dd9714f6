import { endOfWhiteSpace, isWhiteSpace, startOfWhiteSpace } from '../document/chunking/text-boundary.js';

/** A quote in a text. */
export interface Quote {
  /** Text between the marks; of a block quote, its lines without `>`. */
  text: string;
  /** Place in the text, without the marks, in UTF-16 code units. */
  start: number;
  end: number;
}

/** Numbers of sources in an answer: `[2]`, `[1, 3]`, `[2–4]`. */
export interface CitationMark {
  numbers: readonly number[];
  start: number;
  end: number;
}

/** A quotation mark without a counterpart, which leaves open what it quotes. */
export interface UnreadableQuote extends Quote {
  /**
   * `unclosed`: an opening mark; `text` is the rest of its paragraph. `unopened`: a closing mark; `text` is the paragraph before it.
   * `overlapping`: a quote that begins inside another one and ends after it.
   */
  reason: 'unclosed' | 'unopened' | 'overlapping';
}

/** Quotes of a text, in order. */
export interface ReadQuotes {
  readonly quotes: readonly Quote[];
  readonly unreadable: readonly UnreadableQuote[];
  readonly citations: readonly CitationMark[];
}

/**
 * Returns the quotes of a Markdown text: “…”, "…", «…», »…«, „…“, also over several paragraphs and list items, and each paragraph of a block
 * quote. Quotation marks and citations in code are not read, and of nested quotes the outermost counts. Runs in linear time.
 */
export function findQuotes(text: string): ReadQuotes {
  const blockQuotes: Quote[] = [];
  const ofBlocks: CitationMark[] = [];
  const marks = readMarks(text);
  let paragraph: { start: number; end: number } | undefined;
  let block: { lines: string[]; start: number; end: number } | undefined;
  let fence = '';
  const endParagraph = (): void => {
    if (paragraph) marks.readParagraph(paragraph.start, paragraph.end);
    paragraph = undefined;
  };
  const endBlock = (): void => {
    if (block) {
      const cited = lastCitations(text, block.start, block.end);
      ofBlocks.push(...cited);
      const end = startOfWhiteSpace(text, block.start, cited[0]?.start ?? block.end);
      const lines = block.lines.join('\n');
      const quoted = lines.slice(0, lines.length - (block.end - end));
      if (quoted !== '') blockQuotes.push(withoutMarks({ text: quoted, start: block.start, end }));
    }
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
      const item = endOfListMarker(text, first);
      if (first === end || item > first) endParagraph();
      if (first < end) paragraph = { start: paragraph?.start ?? item, end };
    }
    start = end + 1;
  }
  endParagraph();
  endBlock();
  const { quotes, unreadable, citations } = marks.end();
  return {
    quotes: [...quotes, ...blockQuotes].toSorted(byStart),
    unreadable,
    citations: [...citations, ...ofBlocks].toSorted((a, b) => a.start - b.start),
  };
}

const citation = /\[(\d{1,3}(?:[^\S\n]*[,;–-][^\S\n]*\d{1,3})*)\](?!\()/y;

/** Returns the citation at a bracket. The text of a link is none. */
export function citationAt(text: string, at: number): CitationMark | undefined {
  citation.lastIndex = at;
  const found = citation.exec(text);
  if (!found) return undefined;
  const numbers = found[1]!.split(/[,;]/).flatMap((part) => {
    const [from = 0, to = from] = part.split(/[–-]/).map(Number);
    return Array.from({ length: Math.max(1, Math.min(to, 999) - from + 1) }, (_, index) => from + index);
  });
  return { numbers, start: at, end: citation.lastIndex };
}

/** Returns the citations at the end of a block quote, which belong to the answer. */
function lastCitations(text: string, start: number, end: number): CitationMark[] {
  const found: CitationMark[] = [];
  for (let to = end; text[to - 1] === ']';) {
    const mark = citationAt(text, text.lastIndexOf('[', to));
    if (!mark || mark.end !== to || mark.start < start) break;
    found.unshift(mark);
    to = startOfWhiteSpace(text, start, mark.start);
  }
  return found;
}

const listMarker = /(?:[-*+•]|\d{1,3}[.)])[^\S\n]+/y;

/** Returns the position after a marker of a list item and the space behind it; `at` where none begins. */
export function endOfListMarker(text: string, at: number): number {
  listMarker.lastIndex = at;
  return listMarker.test(text) ? listMarker.lastIndex : at;
}

function byStart(a: Quote, b: Quote): number {
  return a.start - b.start || b.end - a.end;
}

/** Returns the marks of a code fence, at least three, or an empty text. A line with further backticks contains a code span. */
function fenceAt(text: string, at: number, end: number): string {
  const mark = text[at];
  const to = mark === '`' || mark === '~' ? Math.min(end, endOfRun(text, at)) : at;
  if (to - at < 3 || (mark === '`' && text.slice(to, end).includes('`'))) return '';
  return text.slice(at, to);
}

/** Returns the end of the run of equal characters at a place. */
export function endOfRun(text: string, start: number): number {
  let end = start;
  while (end < text.length && text[end] === text[start]) end += 1;
  return end;
}

const [curlyOpen, curlyClose, low, left, right] = ['\u201c', '\u201d', '\u201e', '\u00ab', '\u00bb'];

interface OpenMark {
  readonly start: number;
  readonly endOfParagraph: number;
}

/** Reads the quotation marks of paragraphs, which are given in order. */
function readMarks(text: string): { readParagraph(from: number, to: number): void; end(): ReadQuotes } {
  const found: Quote[] = [];
  const citations: CitationMark[] = [];
  const unreadable: UnreadableQuote[] = [];
  const open = new Map<string, OpenMark[]>();
  const report = (reason: UnreadableQuote['reason'], start: number, end: number): void =>
    void unreadable.push({ ...trimmed(text, start, end), reason });

  function readParagraph(from: number, to: number): void {
    /** End of the last quote or mark that was read. */
    let read = from;
    const first = endOfWhiteSpace(text, from, to);
    const begin = (mark: string, at: number): void => {
      const marks = open.get(mark) ?? [];
      open.set(mark, marks);
      const last = marks.at(-1);
      // Each paragraph of a long quote begins with a mark, and only the last one ends with it.
      if (last && at === first) {
        found.push(trimmed(text, last.start, last.endOfParagraph));
        marks.pop();
      } else if (last && mark === '"') {
        report('unclosed', last.start, last.endOfParagraph);
        marks.pop();
      }
      marks.push({ start: at + 1, endOfParagraph: to });
    };
    /** Ends the last quote that began with one of the marks. */
    const finish = (marks: readonly string[], at: number): boolean => {
      const [last] = marks.flatMap((mark) => open.get(mark)?.at(-1) ?? []).toSorted((a, b) => b.start - a.start);
      if (!last) return false;
      for (const mark of marks) if (open.get(mark)?.at(-1) === last) open.get(mark)?.pop();
      found.push(trimmed(text, last.start, at));
      read = at + 1;
      return true;
    };
    const endUnopened = (at: number): void => {
      report('unopened', read, at);
      read = at + 1;
    };
    const skipCode = codeSpans(text, to);
    for (let at = from; at < to; at += 1) {
      const mark = text[at]!;
      if (mark === '`') at = skipCode(at) - 1;
      else if (mark === '[') {
        const cited = citationAt(text, at);
        if (cited && cited.end <= to) citations.push(cited);
      } else if (mark === '"') {
        const before = at === from ? ' ' : text[at - 1]!;
        const isAfterSpace = isWhiteSpace(before.charCodeAt(0));
        const isBeforeSpace = at + 1 === to || isWhiteSpace(text.charCodeAt(at + 1));
        if ((!isAfterSpace || isBeforeSpace) && finish(['"'], at)) continue;
        if (isAfterSpace || (!isBeforeSpace && !/[\p{L}\p{N}]/u.test(before))) begin('"', at);
        // Inches: 5", 10".
        else if (!/\p{N}/u.test(before)) endUnopened(at);
      } else if (mark === low) begin(low, at);
      else if (mark === curlyOpen) {
        if (!finish([low], at)) begin(curlyOpen, at);
      } else if (mark === curlyClose) {
        if (!finish([curlyOpen, low], at)) endUnopened(at);
      } else if (mark === left) {
        if (!finish([right], at)) begin(left, at);
      } else if (mark === right && !finish([left], at)) begin(right, at);
    }
  }

  function end(): ReadQuotes {
    for (const { start, endOfParagraph } of [...open.values()].flat()) report('unclosed', start, endOfParagraph);
    const quotes: Quote[] = [];
    for (const quote of found.toSorted(byStart)) {
      const last = quotes.at(-1);
      if (!last || quote.start >= last.end) quotes.push(quote);
      else if (quote.end > last.end) unreadable.push({ ...quote, reason: 'overlapping' });
    }
    // Marks inside a quote are a part of its text.
    let next = 0;
    const outside = unreadable.toSorted(byStart).filter(({ start, end: last, reason }) => {
      const mark = reason === 'unopened' ? last : start;
      while (next < quotes.length && quotes[next]!.end < start) next += 1;
      const quote = quotes[next];
      return reason === 'overlapping' || !quote || mark <= quote.start || mark > quote.end;
    });
    return { quotes, unreadable: outside, citations };
  }
  return { readParagraph, end };
}

function trimmed(text: string, from: number, to: number): Quote {
  const start = endOfWhiteSpace(text, from, to);
  const end = startOfWhiteSpace(text, start, to);
  return { text: text.slice(start, end), start, end };
}

/** Longer runs of backticks are text, which bounds the search. */
const longestRun = 3;

/** Returns a function that returns the end of the code span at a backtick, or of the run of backticks if it is not closed. */
export function codeSpans(text: string, end: number): (at: number) => number {
  const unclosed = new Set<number>();
  const runAt = (at: number): number => Math.min(end, endOfRun(text, at)) - at;
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

function withoutMarks({ text, start, end }: Quote): Quote {
  if (text.length < 2 || !marks.has(text[0]) || !marks.has(text.at(-1))) return { text, start, end };
  return { text: text.slice(1, -1).trim(), start: start + 1, end: end - 1 };
}
