import { Parser } from 'htmlparser2';
import { MarkdownWriter, type MarkdownText } from './markdown-writer.js';
import { readPageStructure, type PageHead } from './page-structure.js';

export interface HtmlToMarkdownOptions {
  /** Name of the file, for error messages. */
  readonly name: string;
  /** Whether `<p/>` is an empty element, as in XHTML. Default `false`. */
  readonly isXhtml?: boolean;
  /** Returns the URL that relative links are resolved against. Default: relative links become text. */
  readonly baseUrl?: (head: PageHead) => string;
}

/** A page as Markdown. */
export interface HtmlText extends MarkdownText {
  readonly head: PageHead;
}

/**
 * Converts HTML to Markdown: headings, paragraphs, lists, definitions, tables, quotes, code and absolute links. Text of `head`, `script`,
 * `style` and similar elements is left out, and so are marks such as the `\u00b6` behind a heading. Runs in linear time and without recursion.
 *
 * @throws `HTML_TOO_DEEP` for elements nested more than 10,000 deep
 */
export function htmlToMarkdown(html: string, options: HtmlToMarkdownOptions): HtmlText {
  const { name, isXhtml = false, baseUrl } = options;
  const parserOptions = { recognizeSelfClosing: isXhtml, recognizeCDATA: isXhtml };
  const { head, regions } = readPageStructure(html, name, parserOptions);
  const writer = new MarkdownWriter(baseUrl?.(head));
  /** Depth of the open part that is not searched. Parts are not nested. */
  let region = 0;
  let depth = 0;
  let number = -1;
  /** Depth of the outermost element that is not written. */
  let omitted = 0;
  const parser = new Parser(
    {
      onopentag(element, attributes) {
        depth += 1;
        number += 1;
        if (omitted > 0) return;
        const kind = regions.get(number);
        if (kind === 'mark') {
          omitted = depth;
          return;
        }
        if (kind !== undefined) {
          writer.openRegion(kind);
          region = depth;
        }
        writer.open(element, attributes);
      },
      ontext(data) {
        if (omitted === 0) writer.text(data);
      },
      onclosetag(element) {
        if (omitted === 0) writer.close(element);
        else if (omitted === depth) omitted = 0;
        if (region === depth) {
          writer.closeRegion();
          region = 0;
        }
        depth -= 1;
      },
    },
    parserOptions,
  );
  parser.end(html);
  return { ...writer.end(), head };
}
