import { QuiverError } from '@quiver/core';
import { Parser } from 'htmlparser2';
import { MarkdownWriter } from './markdown-writer.js';

/** Depth of elements that the parser is given: it takes quadratic time for deep nesting, and browsers stop at 512. */
export const maxParserDepth = 10_000;

export interface HtmlToMarkdownOptions {
  /** Whether `<p/>` is an empty element, as in XHTML. Default `false`. */
  readonly isXhtml?: boolean;
  /** URL that relative links are resolved against. Default: relative links become text. */
  readonly baseUrl?: string;
}

/**
 * Converts HTML to Markdown: headings, paragraphs, lists, tables, quotes, code and absolute links. Text of `head`, `script`, `style` and
 * similar elements is left out. Runs in linear time and without recursion.
 *
 * @throws `HTML_TOO_DEEP` for elements nested more than 10,000 deep
 */
export function htmlToMarkdown(html: string, { isXhtml = false, baseUrl }: HtmlToMarkdownOptions = {}): string {
  const writer = new MarkdownWriter(baseUrl);
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > maxParserDepth)
          throw new QuiverError(
            'HTML_TOO_DEEP',
            `The elements are nested more than ${maxParserDepth} deep. Check that it is HTML.`,
          );
        writer.open(name, attributes);
      },
      ontext: (data) => writer.text(data),
      onclosetag(name) {
        depth -= 1;
        writer.close(name);
      },
    },
    { recognizeSelfClosing: isXhtml, recognizeCDATA: isXhtml },
  );
  parser.end(html);
  return writer.toString();
}
