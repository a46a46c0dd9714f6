/** The headings above a place in a file, whose texts are chunked alone. */
export class HeadingPath {
  readonly #open: { readonly level: number; readonly title: string }[] = [];

  /** Titles of the headings that are above a heading of a level, outermost first. Default: above the text that follows. */
  titles(level: number = Number.POSITIVE_INFINITY): string[] {
    return this.#open.filter((heading) => heading.level < level).map(({ title }) => title);
  }

  /** Passes the headings of a Markdown text. */
  read(text: string): void {
    for (const [, marks = '', title = ''] of withoutCode(text).matchAll(heading)) {
      const open = this.#open.findIndex(({ level }) => level >= marks.length);
      if (open !== -1) this.#open.splice(open);
      this.#open.push({ level: marks.length, title: withoutClosingMarks(title) });
    }
  }
}

const heading = /^(#{1,6})[ \t]+(\S.*)$/gm;

function withoutClosingMarks(title: string): string {
  let end = title.length;
  while (title[end - 1] === '#') end -= 1;
  return title.slice(0, end).trimEnd();
}

function withoutCode(text: string): string {
  return text.includes('```') ? text.replace(/^```[^]*?^```/gm, '') : text;
}

/** Returns the level of the heading with which a Markdown text begins, or `undefined`. */
export function firstHeadingLevel(text: string): number | undefined {
  return /^\s*(#{1,6})[ \t]/.exec(text.slice(0, 1000))?.[1]?.length;
}

/** Whether a Markdown text has more than headings. */
export function hasContent(text: string): boolean {
  return text.replace(heading, '').trim() !== '';
}
