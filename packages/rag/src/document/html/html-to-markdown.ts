import type { ElementPlace } from './html-tags.js';
import type { SkippedText } from '../skipped-text.js';
import { MarkdownWriter } from './markdown-writer.js';
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
export interface PageText {
  readonly text: string;
  readonly skip: readonly SkippedText[];
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
  const skipped: { kind: string; place: number }[] = [];
  const asked: { element: PageElement; place: number }[] = [];
  const isAsked = (element: PageElement): boolean => elementNames?.has(element.name) ?? false;
  const openPlaces: number[] = [];
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
        skipped.push({ kind, place: writer.openPlace() });
        region = event;
      }
      if (isAsked(event)) {
        openPlaces.push(writer.openPlace());
        asked.push({ element: event, place: openPlaces.at(-1)! });
      }
      writer.open(event.name, event.attributes);
    } else if (open) {
      if (!omitted) {
        writer.close(open.name);
        if (isAsked(open)) writer.closePlace(openPlaces.pop()!);
      } else if (omitted === open) omitted = undefined;
      if (region === open) {
        writer.closePlace(skipped.at(-1)!.place);
        region = undefined;
      }
      open = open.parent;
    }
  }
  const { text, places } = writer.end();
  const skip = skipped.flatMap(({ kind, place }) => (places.has(place) ? [{ ...places.get(place)!, kind }] : []));
  const elements = asked.flatMap(({ element: { name: tag, attributes }, place }) => {
    const label = attributes['aria-label'] ?? attributes['id'];
    return places.has(place) ? [{ name: tag, ...places.get(place)!, label }] : [];
  });
  return { text, skip, elements, head };
}
