/** Patterns of block starts. Each function reads one line, from its first character that is not white space. */

/** Marker of an open fence, which closes it. */
export interface Fence {
  readonly marker: string;
  readonly length: number;
}

export interface ListMarker {
  /** Length of the bullet or of the number with its delimiter. */
  readonly width: number;
  /** Only `1.` and bullets may interrupt a paragraph. */
  readonly mayInterrupt: boolean;
}

const fenceStart = /(`{3,})[^`\n]*(?=\n|$)|(~{3,})/y;
const setextUnderline = /(?:=+|-+)[ \t]*\r?(?=\n|$)/y;
const thematicBreak = /(?:\*[ \t]*){3,}\r?(?=\n|$)|(?:-[ \t]*){3,}\r?(?=\n|$)|(?:_[ \t]*){3,}\r?(?=\n|$)/y;
const bullet = /[*+-](?=[ \t\r\n]|$)/y;
const ordinal = /(\d{1,9})[.)](?=[ \t\r\n]|$)/y;

export function matchFence(text: string, at: number): Fence | undefined {
  if (text[at] !== '`' && text[at] !== '~') return undefined;
  const found = match(fenceStart, text, at);
  const run = found?.[1] ?? found?.[2];
  return run === undefined ? undefined : { marker: run.charAt(0), length: run.length };
}

export function closesFence(text: string, at: number, lineEnd: number, { marker, length }: Fence): boolean {
  let end = at;
  while (end < lineEnd && text[end] === marker) end++;
  return end - at >= length && text.slice(end, lineEnd).trim() === '';
}

/** Returns level and text of `# Title ##`. */
export function matchAtxHeading(text: string, at: number): { level: number; title: string } | undefined {
  let start = at;
  while (text[start] === '#') start++;
  const level = start - at;
  const next = text.charCodeAt(start);
  // A NaN stands for the end of the text.
  const isClosed = next === 0x20 || next === 0x09 || next === 0x0a || next === 0x0d || Number.isNaN(next);
  if (level === 0 || level > 6 || !isClosed) return undefined;
  const newline = text.indexOf('\n', start);
  return { level, title: withoutClosingMarks(text.slice(start, newline === -1 ? text.length : newline)) };
}

/** `# Title ##` is closed by marks that stand alone at the end. */
function withoutClosingMarks(text: string): string {
  const title = text.trim();
  if (title === '') return title;
  let end = title.length;
  while (end > 0 && title[end - 1] === '#') end--;
  return end === 0 || /[ \t]/.test(title.charAt(end - 1)) ? title.slice(0, end).trim() : title;
}

/** 1 for `===`, 2 for `---`. */
export function matchSetextUnderline(text: string, at: number): 1 | 2 | undefined {
  if (text[at] !== '=' && text[at] !== '-') return undefined;
  return match(setextUnderline, text, at) ? (text[at] === '=' ? 1 : 2) : undefined;
}

export function isThematicBreak(text: string, at: number): boolean {
  return '*-_'.includes(text.charAt(at)) && match(thematicBreak, text, at) !== null;
}

export function matchListMarker(text: string, at: number): ListMarker | undefined {
  if (match(bullet, text, at)) return { width: 1, mayInterrupt: true };
  const found = match(ordinal, text, at);
  return found ? { width: found[0].length, mayInterrupt: Number(found[1]) === 1 } : undefined;
}

const blockTags =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul';
const attribute =
  String.raw`[ \t\r]+[A-Za-z_:][\w.:-]*(?:[ \t\r]*=[ \t\r]*(?:[^\s"'=<>` + '`' + String.raw`]+|'[^'\n]*'|"[^"\n]*"))?`;

/** Found in the last line of an HTML block, which may be its first. */
export type HtmlEnd = RegExp | 'blank line';

/** @see [CommonMark 0.31, HTML blocks](https://spec.commonmark.org/0.31.2/#html-blocks), whose seven kinds these are */
const htmlKinds: readonly { start: RegExp; end: HtmlEnd; mayInterrupt: boolean }[] = [
  {
    start: /<(?:script|pre|textarea|style)(?=[\s>]|$)/iy,
    end: /<\/(?:script|pre|textarea|style)>/i,
    mayInterrupt: true,
  },
  { start: /<!--/y, end: /-->/, mayInterrupt: true },
  { start: /<\?/y, end: /\?>/, mayInterrupt: true },
  { start: /<![A-Za-z]/y, end: />/, mayInterrupt: true },
  { start: /<!\[CDATA\[/y, end: /\]\]>/, mayInterrupt: true },
  { start: new RegExp(`</?(?:${blockTags})(?=[\\s>]|/>|$)`, 'iy'), end: 'blank line', mayInterrupt: true },
  {
    start: new RegExp(
      `(?:<[A-Za-z][A-Za-z0-9-]*(?:${attribute})*[ \\t\\r]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \\t\\r]*>)[ \\t\\r]*(?=\\n|$)`,
      'y',
    ),
    end: 'blank line',
    mayInterrupt: false,
  },
];

/** Returns the end of the HTML block that starts at `at`. */
export function matchHtmlBlock(text: string, at: number, inParagraph: boolean): HtmlEnd | undefined {
  if (text[at] !== '<') return undefined;
  return htmlKinds.find(({ start, mayInterrupt }) => (mayInterrupt || !inParagraph) && match(start, text, at))?.end;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
