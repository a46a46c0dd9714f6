import { headingLevel, tagKind } from '@quiver/rag/document';

/** Deeper lists, quotes and tables become plain paragraphs, so that the time stays linear. */
const maxContainers = 20;
/** Maximum number of columns that one cell spans. */
const maxSpan = 50;

/** A list, list item, quote or table cell whose content is written before it is closed. */
interface Container {
  readonly name: string;
  readonly blocks: string[];
  /** Rows of a table, as cells. */
  readonly rows: string[][];
  /** Whether a table contains another one: then it arranges content, and is not data. */
  isLayout: boolean;
  /** Number of the next item of an ordered list. */
  next: number;
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
    if (name === 'tr') this.#table()?.rows.push([]);
    if (!containerNames.has(name)) return;
    if (this.#containers.length > maxContainers) {
      this.#ignored.push(name);
      return;
    }
    const container = createContainer(name);
    if (name === 'ol') container.next = Math.trunc(Number(attributes['start'] ?? 1)) || 1;
    if (name === 'table') for (const outer of this.#containers) if (outer.name === 'table') outer.isLayout = true;
    this.#containers.push(container);
    if (kind === 'cell') container.next = Math.min(Number(attributes['colspan']) || 1, maxSpan);
  }

  text(data: string): void {
    if (this.#hidden > 0 || data === '') return;
    this.#inline.push(this.#preformatted > 0 ? data : data.replace(/[ \t\n\r\f]+/g, ' '));
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

  /** Returns the Markdown, after closing what is open. */
  toString(): string {
    this.#flush();
    while (this.#containers.length > 1) this.#closeContainer();
    return this.#root.blocks.join('\n\n');
  }

  #table(): Container | undefined {
    const inner = this.#containers.at(-1);
    return inner?.name === 'table' ? inner : undefined;
  }

  #openLink(href: string): void {
    const isRelative = this.#baseUrl !== undefined && URL.canParse(href, this.#baseUrl);
    const target = isRelative ? new URL(href, this.#baseUrl).href : href;
    this.#links.push(/^https?:\/\/[^\s<>]+$/i.test(target) ? target : '');
    if (this.#links.at(-1) !== '') this.#inline.push('[');
  }

  #closeLink(): void {
    const href = this.#links.pop();
    if (!href) return;
    // A link without text, for example around a picture.
    if (this.#inline.at(-1) === '[') this.#inline.pop();
    else this.#inline.push(`](${href.replace(/[()]/g, (character) => (character === '(' ? '%28' : '%29'))})`);
  }

  /** Ends the block that is being written. */
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
    const { name, blocks, rows, isLayout, next } = this.#containers.pop()!;
    const parent = this.#containers.at(-1)!;
    if (name === 'table') {
      const table = isLayout ? undefined : toTable(rows);
      parent.blocks.push(...blocks, ...(table === undefined ? rows.flat().filter((cell) => cell !== '') : [table]));
    } else if (name === 'td' || name === 'th') {
      const content = blocks.join('\n\n');
      if (parent.name !== 'table') parent.blocks.push(...blocks);
      else {
        if (parent.rows.length === 0) parent.rows.push([]);
        parent.rows.at(-1)!.push(content, ...Array.from({ length: next - 1 }, () => ''));
      }
    } else if (name === 'li') {
      const marker = parent.name === 'ol' ? `${parent.next}. ` : '- ';
      parent.next += 1;
      const text = blocks.join('\n');
      if (text !== '') parent.blocks.push(`${marker}${text.replace(/\n(?=.)/g, `\n${' '.repeat(marker.length)}`)}`);
    } else if (blocks.length > 0) {
      const isQuote = name === 'blockquote';
      parent.blocks.push(isQuote ? blocks.join('\n\n').replace(/^/gm, '> ') : blocks.join('\n'));
    }
  }
}

const containerNames: ReadonlySet<string> = new Set(['ul', 'ol', 'li', 'blockquote', 'table', 'td', 'th']);

function createContainer(name: string): Container {
  return { name, blocks: [], rows: [], isLayout: false, next: 1 };
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

function toFence(raw: string): string {
  const code = raw.replace(/^\n+/, '').trimEnd();
  const longest = Math.max(2, ...Array.from(code.matchAll(/`{3,}/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return code === '' ? '' : `${fence}\n${code}\n${fence}`;
}

/** Returns rows as a table of Markdown, whose first row is the header; `undefined` for rows that are not a table. */
function toTable(rows: readonly (readonly string[])[]): string | undefined {
  const filled = rows.filter((cells) => cells.some((cell) => cell !== ''));
  const columns = filled.reduce((most, { length }) => Math.max(most, length), 0);
  if (columns < 2 || filled.length < 2) return undefined;
  const [header = [], ...body] = filled;
  return [toTableHeader(Array.from({ length: columns }, (_, index) => header[index] ?? '')), ...body.map(toRow)].join(
    '\n',
  );
}

/** Returns the two lines with which a table of Markdown starts. */
export function toTableHeader(cells: readonly string[]): string {
  return `${toRow(cells)}\n${toRow(cells.map(() => '---'))}`;
}

/** Returns one row of a table of Markdown. */
export function toRow(cells: readonly string[]): string {
  const texts = cells.map((cell) =>
    cell
      .replace(/\s+/g, ' ')
      .trim()
      .replaceAll('|', String.raw`\|`),
  );
  return `| ${texts.join(' | ')} |`;
}
