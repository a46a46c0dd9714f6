import { blankOut } from '../skipped-text.js';
import { htmlToMarkdown, type PageText } from './html-to-markdown.js';
import type { PageHead } from './page-structure.js';

/** A page as Markdown, with what its head says about it. */
export interface Page extends PageText {
  readonly metadata: { source?: string; title?: string; description?: string; language?: string };
}

/**
 * Reads HTML as Markdown: a document of the type `html`, a file and a page of the web. For a page whose name is its URL, links are absolute, and
 * the `source` is the canonical URL if that is on the same origin.
 *
 * @param elementNames - elements whose places are returned
 * @throws `HTML_TOO_DEEP` for elements nested more than 10,000 deep
 */
export function readPage(html: string, name: string, elementNames?: ReadonlySet<string>): Page {
  const isUrl = /^https?:/i.test(name) && URL.canParse(name);
  const baseOf = (head: PageHead): string => resolve(head.base, name) ?? name;
  const { head, ...page } = htmlToMarkdown(html, { name, elementNames, ...(isUrl && { baseUrl: baseOf }) });
  const { title, description, language } = head;
  const metadata = {
    ...(isUrl && { source: sourceOf(name, head, baseOf(head)) }),
    ...(title && { title }),
    ...(description && { description }),
    ...(language && { language }),
  };
  return { ...withoutTitleOnly(withTitle(page, title), title), metadata };
}

/** Text up to this length may come before the heading that is the title. */
const longestBeforeTitle = 100;

/** Adds the title of a page that does not begin with a heading of the first or second level, and has none of the first. */
function withTitle(page: PageText, title: string | undefined): PageText {
  const { text, skip, elements } = page;
  const searched = blankOut(text, skip);
  const hasTitle = /^# /m.test(searched) || searched.trimStart().slice(0, longestBeforeTitle).search(/^## /m) !== -1;
  if (hasTitle || !title || text === '') return page;
  const start = `# ${title}\n\n`;
  const move = <Part extends { start: number; end: number }>(part: Part): Part => ({
    ...part,
    start: part.start + start.length,
    end: part.end + start.length,
  });
  return { text: start + text, skip: skip.map(move), elements: elements.map(move) };
}

/** Leaves out the title alone before a part that is not searched: it is in the metadata. */
function withoutTitleOnly({ text, skip, elements }: PageText, title: string | undefined): PageText {
  if (!title) return { text, skip, elements };
  const parts = skip.flatMap((part, index) => {
    const from = skip[index - 1]?.end ?? 0;
    const end = from + text.slice(from, part.start).trimEnd().length;
    const start = end - title.length;
    const isFirst = text.slice(Math.max(from, text.lastIndexOf('\n', start - 1)), start).trim() === '';
    const isAlone = start >= from && text.startsWith(title, start) && isFirst;
    return isAlone ? [{ start, end, kind: 'heading' }, part] : [part];
  });
  return { text, skip: parts, elements };
}

function sourceOf(url: string, head: PageHead, base: string): string {
  const canonical = resolve(head.canonical, base);
  const isSameOrigin = canonical !== undefined && new URL(canonical).origin === new URL(url).origin;
  const source = new URL(isSameOrigin ? canonical : url);
  source.hash = '';
  return source.href;
}

function resolve(reference: string | undefined, base: string): string | undefined {
  if (reference === undefined || !URL.canParse(reference, base)) return undefined;
  const { href, protocol } = new URL(reference, base);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
