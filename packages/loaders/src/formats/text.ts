import type { CodeLanguage, DocumentType } from '@quiver/rag/document';
import { findMarkdownParts } from '../structure/markdown-parts.js';
import { decodeText } from './decode-text.js';
import type { DocumentLoader } from './document-loader.js';

/** Returns the loader of text of a type, or of source code. An encoding other than UTF-8 is in the metadata. */
export function textLoader(type: DocumentType, language?: CodeLanguage): DocumentLoader {
  return async (bytes, { name, encoding }) => {
    const decoded = await decodeText(bytes, name, encoding);
    const docs = type === 'markdown' ? [{ ...decoded, skip: findMarkdownParts(decoded.text) }] : [decoded];
    // Some `.json` files contain comments or trailing commas.
    if (type === 'json' && !isJson(decoded.text)) return [{ type: 'text', language: 'js', docs }];
    return [{ type, docs, ...(language && { language }) }];
  };
}

/** Whether a text is JSON, or JSON Lines. The reader of the chunker would need gigabytes for brackets that are not closed. */
function isJson(text: string): boolean {
  const isRecord = (line: string): boolean => /^[ \t\r]*$/.test(line) || (line !== text && parses(line));
  return parses(text) || text.split('\n').every(isRecord);
}

function parses(text: string): boolean {
  try {
    // As the chunker reads it: files joined to one have a byte order mark before each of their parts.
    JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
    return true;
  } catch {
    return false;
  }
}
