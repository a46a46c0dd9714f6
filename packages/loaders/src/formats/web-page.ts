import { QuiverError } from '@quiver/core';
import { Parser } from 'htmlparser2';
import { decodeText } from './decode-text.js';
import type { DocumentLoader } from './document-loader.js';
import { htmlToMarkdown, maxParserDepth } from '../structure/html-to-markdown.js';

/** The text of a web page as Markdown, and what its head says about it. */
export interface WebPage {
  readonly text: string;
  /** Canonical URL if it is on the same origin, otherwise the URL of the page, without a fragment. */
  readonly url: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** Language tag, for example `de-CH`. */
  readonly language: string | undefined;
}

/** Part of a page to read: the article without navigation, header and footer, or everything. */
export type PageContent = 'main' | 'all';

/** Limits beyond which a page is read as a whole: the search for its main content takes more than linear time. */
const maxLength = 2_000_000;
const maxElements = 30_000;
const maxTexts = 100_000;
const maxNesting = 150;
/** Main content that is shorter than this is a miss, for example on pages of links. */
const minMainLength = 150;

/** Returns the loader of HTML from the web, whose name is its URL. Its metadata has the `source`, and what the head says about the page. */
export function pageLoader(content: PageContent): DocumentLoader {
  return async (bytes, { name: url, encoding }) => {
    const { text: html } = await decodeText(bytes, url, encoding ?? metaCharset(bytes));
    const { text, url: source, title, description, language } = await readWebPage(html, url, content);
    if (text.trim() === '') throw new QuiverError('DOCUMENT_EMPTY', `${url} contains no text.`, { details: { url } });
    const found = { ...(title && { title }), ...(description && { description }), ...(language && { language }) };
    return [{ type: 'markdown', docs: [{ text, metadata: { source, ...found } }] }];
  };
}

/** Returns the encoding that a page declares in its first kilobyte. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1];
}

/**
 * Reads a web page: its main content as found by `@mozilla/readability` in the document of `linkedom`, with absolute links. A
 * page without main content, or beyond the limits of these packages, is read as a whole.
 *
 * @param url - URL that the page was loaded from
 * @throws `HTML_TOO_DEEP`
 */
export async function readWebPage(html: string, url: string, content: PageContent = 'main'): Promise<WebPage> {
  const head = readHead(html, url);
  const base = resolve(head.base, url) ?? url;
  const isSmall =
    html.length <= maxLength && head.elements <= maxElements && head.texts <= maxTexts && head.depth <= maxNesting;
  const main =
    content === 'main' && isSmall
      ? await findMainContent(head.hasBody ? html : `<html><body>${html}</body></html>`)
      : undefined;
  const body = htmlToMarkdown(main?.html ?? html, { baseUrl: base });
  const title = main?.title ?? head.title;
  const hasTitle = title === undefined || body.startsWith('# ');
  const canonical = resolve(head.canonical, base);
  const isSameOrigin = canonical !== undefined && new URL(canonical).origin === new URL(url).origin;
  const source = new URL(isSameOrigin ? canonical : url);
  source.hash = '';
  return {
    text: hasTitle || body === '' ? body : `# ${title}\n\n${body}`,
    url: source.href,
    title,
    description: head.description,
    language: head.language,
  };
}

async function findMainContent(html: string): Promise<{ html: string; title: string | undefined } | undefined> {
  const [{ Readability }, { parseHTML }] = await Promise.all([import('@mozilla/readability'), import('linkedom')]);
  const { document } = parseHTML(html);
  let article: ReturnType<import('@mozilla/readability').Readability<string>['parse']>;
  try {
    // Readability declares the browser's Document, of which linkedom implements the part that it uses.
    article = new Readability<string>(document as never).parse();
  } catch {
    // It fails for some malformed pages that have text.
    return undefined;
  }
  if (!article?.content || (article.textContent ?? '').trim().length < minMainLength) return undefined;
  return { html: article.content, title: squeeze(article.title ?? '') };
}

interface PageHead {
  title: string | undefined;
  canonical: string | undefined;
  base: string | undefined;
  description: string | undefined;
  language: string | undefined;
  hasBody: boolean;
  /** Number of texts, of which `<<<` is three. */
  texts: number;
  elements: number;
  depth: number;
}

function readHead(html: string, url: string): PageHead {
  const head: PageHead = {
    title: undefined,
    canonical: undefined,
    base: undefined,
    description: undefined,
    language: undefined,
    hasBody: false,
    texts: 0,
    elements: 0,
    depth: 0,
  };
  let depth = 0;
  let title: string[] | undefined;
  const parser = new Parser({
    onopentag(name, { rel, href, content, lang, ...attributes }) {
      head.elements += 1;
      depth += 1;
      head.depth = Math.max(head.depth, depth);
      if (name === 'body') head.hasBody = true;
      else if (name === 'html') head.language ??= squeeze(lang ?? '');
      else if (name === 'title' && head.title === undefined) title = [];
      else if (name === 'base') head.base ??= href;
      else if (name === 'link' && rel?.toLowerCase() === 'canonical') head.canonical ??= href;
      else if (name === 'meta' && attributes['name']?.toLowerCase() === 'description')
        head.description ??= squeeze(content ?? '');
      if (depth > maxParserDepth)
        throw new QuiverError('HTML_TOO_DEEP', `The elements of ${url} are nested more than ${maxParserDepth} deep.`);
    },
    ontext(text) {
      head.texts += 1;
      title?.push(text);
    },
    onclosetag(name) {
      depth -= 1;
      if (name !== 'title' || !title) return;
      head.title ??= squeeze(title.join(''));
      title = undefined;
    },
  });
  parser.end(html);
  return head;
}

function squeeze(text: string): string | undefined {
  return text.replace(/\s+/g, ' ').trim() || undefined;
}

function resolve(reference: string | undefined, base: string): string | undefined {
  if (reference === undefined || !URL.canParse(reference, base)) return undefined;
  const { href, protocol } = new URL(reference, base);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
