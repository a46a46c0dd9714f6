import { headingLevel, tagKind } from './html-tags.js';

/** Deeper lists, quotes and tables become plain paragraphs, so that the time stays linear. */
const maxContainers = 20;
const maxSpan = 50;
/** Maximum number of columns in a table, behind which cells span nothing. */
const maxColumns = 500;
/** Maximum number of cells and characters that are repeated because a cell spans several. Further ones are empty. */
const maxRepeated = 1_000_000;

/** Parts of the text of {@link MarkdownWriter.end}, by their number. */
type Places = ReadonlyMap<number, { readonly start: number; readonly end: number }>;

/** Characters for private use, before the number of a place, which a semicolon ends, until the text is complete. */
const [placeStart, placeEnd] = ['\uE0F0', '\uE0F1'];
const anyMark = /[\uE0F0\uE0F1](?:\d+;)?/g;

/** A list, list item, quote or table cell whose content is written before it is closed. */
interface Container {
  readonly name: string;
  readonly blocks: string[];
  /** Rows of a table, as cells. */
  readonly rows: string[][];
  /** Cells of rows above that reach into the next row of a table, by their column. */
  readonly spans: ({ text: string; rows: number } | undefined)[];
  /** Whether a table without header cells contains another one: then it arranges content, and is not data. */
  isLayout: boolean;
  hasHeader: boolean;
  /** Number of the next item of an ordered list; columns of a cell; terms of a list of definitions that wait for theirs. */
  next: number;
  height: number;
}

/**
 * Writes Markdown from the events of an HTML parser, or of another one with the names of HTML elements: headings, paragraphs, lists,
 * tables, quotes, code and absolute links. Emphasis is left out, because it separates words from their neighbors.
 */
export class MarkdownWriter {
  readonly #root: Container = createContainer('');
  readonly #containers: Container[] = [this.#root];
  /** Elements that were not opened as a container, because they are nested too deep. */
  #ignored: string[] = [];
  #inline: string[] = [];
  #prefix = '';
  #hidden = 0;
  #preformatted = 0;
  #links: string[] = [];
  #repeated = 0;
  #places = 0;
  readonly #baseUrl: string | undefined;

  /** @param baseUrl - URL that relative links are resolved against; without it, they become text */
  constructor(baseUrl?: string) {
    this.#baseUrl = baseUrl;
  }

  open(name: string, attributes: Readonly<Record<string, string>> = {}): void {
    const kind = tagKind(name);
    if (kind === 'hidden') this.#hidden += 1;
    if (this.#hidden > 0) return;
    const level = headingLevel(name);
    if (kind === 'break') this.#inline.push('\n');
    else if (name === 'img') this.text(attributes['alt'] ?? '');
    else if (name === 'a') this.#openLink(attributes['href'] ?? '');
    else if (name === 'code' && this.#preformatted === 0) this.#inline.push('`');
    else if (kind === 'block' || kind === 'cell') this.#flush();
    if (level !== undefined) this.#prefix = `${'#'.repeat(level)} `;
    if (name === 'pre') this.#preformatted += 1;
    if (name === 'tr') this.#openRow();
    if (name === 'tbody' || name === 'tfoot') this.#table()?.spans.splice(0);
    if (!containerNames.has(name)) return;
    if (this.#containers.length > maxContainers) {
      this.#ignored.push(name);
      return;
    }
    const container = createContainer(name);
    if (name === 'ol') container.next = Math.trunc(Number(attributes['start'] ?? 1)) || 1;
    if (name === 'table')
      for (const outer of this.#containers) if (outer.name === 'table' && !outer.hasHeader) outer.isLayout = true;
    const table = this.#table();
    if (name === 'th' && table) table.hasHeader = true;
    this.#containers.push(container);
    if (kind !== 'cell') return;
    container.next = Math.min(Number(attributes['colspan']) || 1, maxSpan);
    // 0: up to the last row.
    container.height = Number(attributes['rowspan'] ?? 1) || Number.POSITIVE_INFINITY;
  }

  text(data: string): void {
    if (this.#hidden > 0 || data === '') return;
    const own = data.replace(anyMark, '');
    this.#inline.push(this.#preformatted > 0 ? own : own.replace(/[ \t\n\r\f]+/g, ' '));
  }

  /** Begins a place that {@link end} returns under this number. A place within a cell of a table is lost. */
  openPlace(): number {
    this.#flush();
    this.#containers.at(-1)!.blocks.push(`${placeStart}${this.#places};`);
    return this.#places++;
  }

  closePlace(number: number): void {
    this.#flush();
    this.#containers.at(-1)!.blocks.push(`${placeEnd}${number};`);
  }

  close(name: string): void {
    const kind = tagKind(name);
    if (kind === 'hidden') {
      this.#hidden = Math.max(0, this.#hidden - 1);
      return;
    }
    if (this.#hidden > 0) return;
    if (name === 'a') this.#closeLink();
    else if (name === 'code' && this.#preformatted === 0) this.#inline.push('`');
    else if (kind === 'block' || kind === 'cell') this.#flush();
    if (headingLevel(name) !== undefined) this.#prefix = '';
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted - 1);
    if (!containerNames.has(name)) return;
    if (this.#ignored.at(-1) === name) this.#ignored.pop();
    else if (this.#containers.length > 1 && this.#containers.at(-1)?.name === name) this.#closeContainer();
  }

  /** Returns the Markdown, after closing what is open, and its places by their number, without empty ones. */
  end(): { text: string; places: Places } {
    this.#flush();
    while (this.#containers.length > 1) this.#closeContainer();
    return withoutMarks(this.#root.blocks.join('\n\n'));
  }

  #table(): Container | undefined {
    const inner = this.#containers.at(-1);
    return inner?.name === 'table' ? inner : undefined;
  }

  #openRow(): void {
    const table = this.#table();
    if (!table) return;
    this.#endRow(table);
    table.rows.push([]);
  }

  /** Adds the cells that reach into the last row from above. */
  #endRow({ rows, spans }: Container): void {
    const row = rows.at(-1);
    if (!row) return;
    const last = spans.findLastIndex((span) => span !== undefined && span.rows > 0);
    while (row.length <= last) {
      this.#addSpanned(row, spans);
      if (row.length <= last) row.push('');
    }
  }

  #addSpanned(row: string[], spans: Container['spans']): void {
    for (let span = spans[row.length]; span && span.rows > 0; span = spans[row.length]) {
      span.rows -= 1;
      row.push(this.#repeat(span.text));
    }
  }

  #addCell({ rows, spans }: Container, text: string, { next: columns, height }: Container): void {
    if (rows.length === 0) rows.push([]);
    const row = rows.at(-1)!;
    this.#addSpanned(row, spans);
    for (let column = 0; column < columns; column += 1) {
      const own = column === 0 ? text : this.#repeat(text);
      if (row.length < maxColumns) spans[row.length] = height > 1 ? { text, rows: height - 1 } : undefined;
      row.push(own);
    }
  }

  #repeat(text: string): string {
    this.#repeated += 1 + text.length;
    return this.#repeated > maxRepeated ? '' : text;
  }

  #openLink(href: string): void {
    const isRelative = this.#baseUrl !== undefined && URL.canParse(href, this.#baseUrl);
    const target = isRelative ? new URL(href, this.#baseUrl).href : href;
    // A heading is a title of chunks, whose address is of no use.
    const isLink = this.#prefix === '' && /^https?:\/\/[^\s<>]+$/i.test(target);
    this.#links.push(isLink ? target : '');
    if (this.#links.at(-1) !== '') this.#inline.push('[');
  }

  #closeLink(): void {
    const href = this.#links.pop();
    if (!href) return;
    // A link without text, for example around a picture.
    if (this.#inline.at(-1) === '[') this.#inline.pop();
    else this.#inline.push(`](${href.replace(/[()]/g, (character) => (character === '(' ? '%28' : '%29'))})`);
  }

  #flush(): void {
    if (this.#inline.length === 0) return;
    const raw = this.#inline.join('');
    this.#inline = [];
    const block = this.#preformatted > 0 ? toFence(raw) : toParagraph(raw, this.#prefix);
    if (block === '') return;
    this.#containers.at(-1)!.blocks.push(block);
    this.#prefix = '';
  }

  #closeContainer(): void {
    const container = this.#containers.pop()!;
    const { name, blocks, rows, isLayout } = container;
    const parent = this.#containers.at(-1)!;
    if (name === 'table') {
      this.#endRow(container);
      const filled = rows.map((cells) => cells.filter((cell) => cell !== '')).filter((cells) => cells.length > 0);
      const isInData = this.#containers.some((outer) => outer.name === 'table' && !outer.isLayout);
      const table = isLayout || isInData ? undefined : toTable(rows);
      // A row of a table in a cell is a line of it.
      const lines = isInData ? filled.map((cells) => cells.join(' ')) : filled.flat();
      parent.blocks.push(...blocks, ...(table === undefined ? lines : [table]));
    } else if (name === 'td' || name === 'th') {
      if (parent.name === 'table') this.#addCell(parent, blocks.join('\n\n'), container);
      else parent.blocks.push(...blocks);
    } else if (name === 'dt' || name === 'dd') {
      addDefinition(parent, name, blocks);
    } else if (name === 'li') {
      const marker = parent.name === 'ol' ? `${parent.next}. ` : '- ';
      parent.next += 1;
      const text = blocks.join('\n');
      if (text !== '') parent.blocks.push(`${marker}${text.replace(/\n(?=.)/g, `\n${' '.repeat(marker.length)}`)}`);
    } else if (blocks.length > 0) {
      const isQuote = name === 'blockquote';
      const text = blocks.join(name === 'dl' ? '\n\n' : '\n');
      parent.blocks.push(isQuote ? blocks.join('\n\n').replace(/^/gm, '> ') : text);
    }
  }
}

/** Removes the marks, each with the white space behind it, and returns what is between them. */
function withoutMarks(marked: string): { text: string; places: Places } {
  const starts = new Map<number, number>();
  const places = new Map<number, { start: number; end: number }>();
  const pieces: string[] = [];
  let length = 0;
  let from = 0;
  for (const { 0: mark, 1: number, index } of marked.matchAll(/[\uE0F0\uE0F1](\d+);\s*/g)) {
    const piece = marked.slice(from, index);
    pieces.push(piece);
    length += piece.length;
    from = index + mark.length;
    const place = Number(number);
    const start = starts.get(place) ?? length;
    const end = length - (piece.length - piece.trimEnd().length);
    if (mark.startsWith(placeStart)) starts.set(place, length);
    else if (end > start) places.set(place, { start, end });
  }
  return { text: (pieces.join('') + marked.slice(from)).trimEnd(), places };
}

const containerNames: ReadonlySet<string> = new Set('ul ol li dl dt dd blockquote table td th'.split(' '));

function createContainer(name: string): Container {
  return {
    name,
    blocks: [],
    rows: [],
    spans: [],
    isLayout: false,
    hasHeader: false,
    next: name === 'dl' ? 0 : 1,
    height: 1,
  };
}

/** Adds a term in a separate line, and its definition behind `: ` in the next line, as in PHP Markdown Extra. */
function addDefinition(list: Container, name: 'dt' | 'dd', blocks: readonly string[]): void {
  if (blocks.length === 0) return;
  if (list.name !== 'dl') {
    list.blocks.push(...blocks);
    return;
  }
  if (name === 'dt') {
    const lines = blocks.join(' ').split('\n');
    const term = lines.map((line) => line.trim()).join(' ');
    if (list.next > 0) list.blocks.push(`${list.blocks.pop()!}\n${term}`);
    else list.blocks.push(term);
    list.next += 1;
    return;
  }
  const [first = '', ...more] = blocks;
  const isPlain = !/^(?:[-|#>]|\d+\. |```|: )/.test(first);
  const definition = isPlain ? `: ${first}` : first;
  if (list.next > 0 && isPlain) list.blocks.push(`${list.blocks.pop()!}\n${definition}`);
  else list.blocks.push(definition);
  list.blocks.push(...more);
  list.next = 0;
}

function toParagraph(raw: string, prefix: string): string {
  const text = raw
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
  if (text === '') return '';
  if (prefix !== '') return prefix + text.replace(/\n+/g, ' ');
  // A line that Markdown would read as a heading, a rule or a code fence.
  return text.replace(/^(?=#{1,6}(?:\s|$)|```|~~~|(?:=+|-+)\s*$)/gm, '\\');
}

/** Returns code in a fence that it does not contain. */
export function toFence(raw: string, language = ''): string {
  const code = raw.replace(/^\n+/, '').trimEnd();
  const longest = Math.max(2, ...Array.from(code.matchAll(/`{3,}/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return code === '' ? '' : `${fence}${language}\n${code}\n${fence}`;
}

/** Returns rows as a table of Markdown, whose first row is the header; `undefined` for rows that are not a table. */
function toTable(rows: readonly (readonly string[])[]): string | undefined {
  const filled = rows.filter((cells) => cells.some((cell) => cell !== ''));
  const columns = filled.reduce((most, { length }) => Math.max(most, length), 0);
  if (columns < 2 || filled.length < 2) return undefined;
  const [header = [], ...body] = filled;
  const names = Array.from({ length: columns }, (_, index) => header[index] ?? '');
  const lines = [toTableHeader(names), ...body.map(toRow)];
  const longest = lines.slice(1).reduce((most, { length }) => Math.max(most, length), 0);
  if (columns >= leastWide && lines[0]!.length + longest > longestRow)
    return body.map((cells) => toRecord(names, cells)).join('\n\n');
  return lines.join('\n');
}

/** A table with as many columns, whose header and a row exceed this size, is written as records: no chunk has a value without its name. */
const leastWide = 12;
const longestRow = 1000;

/** Returns a row of a wide table as a line per value: `name: value`. */
export function toRecord(names: readonly string[], cells: readonly string[]): string {
  const values = cells.map((cell) => cell.replace(anyMark, '').replace(/\s+/g, ' ').trim());
  return values
    .flatMap((value, column) => {
      const name = names[column]?.replace(/\s+/g, ' ').trim();
      return value === '' ? [] : [name ? `${name}: ${value}` : value];
    })
    .join('\n');
}

/** Returns the two lines with which a table of Markdown starts. */
export function toTableHeader(cells: readonly string[]): string {
  return `${toRow(cells)}\n${toRow(cells.map(() => '---'))}`;
}

/** Returns one row of a table of Markdown. */
export function toRow(cells: readonly string[]): string {
  return `| ${cells.map(toCell).join(' | ')} |`;
}

/** Most cells of a sheet are a number or a word, and are unchanged. */
function toCell(text: string): string {
  return /[\s|\uE0F0\uE0F1]/.test(text)
    ? text
        .replace(anyMark, '')
        .replace(/\s+/g, ' ')
        .trim()
        .replaceAll('|', String.raw`\|`)
    : text;
}
