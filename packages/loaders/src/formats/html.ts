import { blankOut } from '@quiver/rag/document';
import { htmlToMarkdown } from '../structure/html-to-markdown.js';
import type { PageHead } from '../structure/page-structure.js';
import type { MarkdownText } from '../structure/markdown-writer.js';
import { decodeText } from './decode-text.js';
import type { DocumentLoader } from './document-loader.js';

/**
 * Reads HTML as Markdown, with what its head says about it. For a page from the web, whose name is its URL, links are absolute, and the
 * `source` is the canonical URL if that is on the same origin.
 */
export const loadHtml: DocumentLoader = async (bytes, { name, encoding }) => {
  const { text: html } = await decodeText(bytes, name, encoding ?? metaCharset(bytes));
  const isUrl = /^https?:/i.test(name) && URL.canParse(name);
  const baseOf = (head: PageHead): string => resolve(head.base, name) ?? name;
  const page = htmlToMarkdown(html, { name, ...(isUrl && { baseUrl: baseOf }) });
  const { title, description, language } = page.head;
  const metadata = {
    ...(isUrl && { source: sourceOf(name, page.head, baseOf(page.head)) }),
    ...(title && { title }),
    ...(description && { description }),
    ...(language && { language }),
  };
  return [
    {
      type: 'markdown',
      docs: page.text === '' ? [] : [{ ...withoutTitleOnly(withTitle(page, title), title), metadata }],
    },
  ];
};

/** Returns the encoding that a page declares in its first kilobyte. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1];
}

/** Text up to this length may come before the heading that is the title. */
const longestBeforeTitle = 100;

/** Adds the title of a page that does not begin with a heading of the first or second level, and has none of the first. */
function withTitle({ text, skip }: MarkdownText, title: string | undefined): MarkdownText {
  const searched = blankOut(text, skip);
  const hasTitle = /^# /m.test(searched) || searched.trimStart().slice(0, longestBeforeTitle).search(/^## /m) !== -1;
  if (hasTitle || !title) return { text, skip };
  const start = `# ${title}\n\n`;
  return {
    text: start + text,
    skip: skip.map((part) => ({ ...part, start: part.start + start.length, end: part.end + start.length })),
  };
}

/** Leaves out the title that stands alone before a part that is not searched: it is in the metadata. */
function withoutTitleOnly({ text, skip }: MarkdownText, title: string | undefined): MarkdownText {
  if (!title) return { text, skip };
  const parts = skip.flatMap((part, index) => {
    const from = skip[index - 1]?.end ?? 0;
    const end = from + text.slice(from, part.start).trimEnd().length;
    const start = end - title.length;
    const isFirst = text.slice(Math.max(from, text.lastIndexOf('\n', start - 1)), start).trim() === '';
    const isAlone = start >= from && text.startsWith(title, start) && isFirst;
    return isAlone ? [{ start, end, kind: 'heading' }, part] : [part];
  });
  return { text, skip: parts };
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
