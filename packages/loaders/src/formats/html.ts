import { readPage } from '@quiver/rag/document';
import { decodeText } from './decode-text.js';
import type { DocumentLoader } from './document-loader.js';

/** Reads HTML as Markdown, with what its head says about it, as `MDocument.fromHTML()` does. The name of a page from the web is its URL. */
export const loadHtml: DocumentLoader = async (bytes, { name, encoding }) => {
  const { text: html } = await decodeText(bytes, name, encoding ?? metaCharset(bytes));
  const { text, skip, metadata } = readPage(html, name);
  return [{ type: 'markdown', docs: text === '' ? [] : [{ text, skip, metadata }] }];
};

/** Returns the encoding that a page declares in its first kilobyte. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1];
}
