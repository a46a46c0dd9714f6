import type { ElementPlace } from './html-tags.js';
import { MarkdownWriter, type MarkdownText } from './markdown-writer.js';
import { readPageStructure, type PageElement, type PageHead } from './page-structure.js';

export interface HtmlToMarkdownOptions {
  /** Name of the file, for error messages. */
  readonly name: string;
  /** Whether `<p/>` is an empty element, as in XHTML. Default `false`. */
  readonly isXhtml?: boolean;
  /** Returns the URL that relative links are resolved against. Default: relative links become text. */
  readonly baseUrl?: (head: PageHead) => string;
  /** Elements whose places are returned. Default: none. */
  readonly elementNames?: ReadonlySet<string> | undefined;
}

/** A page as Markdown. */
export interface PageText extends MarkdownText {
  /** Places of the requested elements that have a text, in the order of their start tags. */
  readonly elements: readonly ElementPlace[];
}

/**
 * Converts HTML to Markdown: headings, paragraphs, lists, definitions, tables, quotes, code and absolute links. Text of `head`, `script`,
 * `style` and similar elements is left out, and so are marks such as the `\u00b6` behind a heading. Runs in linear time and without recursion.
 *
 * @throws `HTML_TOO_DEEP` for elements nested more than 10,000 deep
 */
export function htmlToMarkdown(html: string, options: HtmlToMarkdownOptions): PageText & { readonly head: PageHead } {
  const { name, isXhtml = false, baseUrl, elementNames } = options;
  const parserOptions = { recognizeSelfClosing: isXhtml, recognizeCDATA: isXhtml };
  const { head, events, regions } = readPageStructure(html, name, parserOptions);
  const writer = new MarkdownWriter(baseUrl?.(head));
  let open: PageElement | undefined;
  /** The open part that is not searched. Parts are not nested. */
  let region: PageElement | undefined;
  /** The outermost open element that is not written. */
  let omitted: PageElement | undefined;
  const asked: PageElement[] = [];
  const isAsked = (element: PageElement): boolean => elementNames?.has(element.name) ?? false;
  const numbers: number[] = [];
  for (const event of events) {
    if (typeof event === 'string') {
      if (!omitted) writer.text(event);
    } else if (event) {
      open = event;
      if (omitted) continue;
      const kind = regions.get(event);
      if (kind === 'mark') {
        omitted = event;
        continue;
      }
      if (kind !== undefined) {
        writer.openRegion(kind);
        region = event;
      }
      if (isAsked(event)) {
        numbers.push(asked.length);
        writer.startPlace(asked.length);
        asked.push(event);
      }
      writer.open(event.name, event.attributes);
    } else if (open) {
      if (!omitted) {
        writer.close(open.name);
        if (isAsked(open)) writer.endPlace(numbers.pop()!);
      } else if (omitted === open) omitted = undefined;
      if (region === open) {
        writer.closeRegion();
        region = undefined;
      }
      open = open.parent;
    }
  }
  const { text, skip, places } = writer.end();
  const elements = asked.flatMap(({ name: element, attributes }, number) => {
    const { start = 0, end = 0 } = places.get(number) ?? {};
    return end > start ? [{ name: element, start, end, label: attributes['aria-label'] ?? attributes['id'] }] : [];
  });
  return { text, skip, elements, head };
}
