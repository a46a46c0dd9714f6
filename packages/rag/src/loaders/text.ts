import type { CodeLanguage } from '../document/chunking/code-languages.js';
import { readJson } from '../document/chunking/json-reader.js';
import type { DocumentType } from '../document/document.js';
import { decodeText } from './decode-text.js';
import type { DocumentLoader } from './document-loader.js';

/** Returns the loader of text of a type, or of source code. An encoding other than UTF-8 is in the metadata. */
export function textLoader(type: DocumentType, language?: CodeLanguage): DocumentLoader {
  return async (bytes, { name, encoding: known }) => {
    const { text, encoding } = await decodeText(bytes, name, known);
    const docs = [{ text, ...(encoding !== 'utf-8' && { metadata: { encoding } }) }];
    // Some `.json` files contain comments or trailing commas.
    if (type === 'json' && !isJson(text)) return [{ type: 'text', language: 'js', docs }];
    return [{ type, docs, ...(language && { language }) }];
  };
}

function isJson(text: string): boolean {
  try {
    readJson(text);
    return true;
  } catch {
    return false;
  }
}
