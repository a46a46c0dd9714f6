import { QuiverError } from '@quiver/core';
import type { DocumentLoader } from './document-loader.js';

/**
 * Reads the text of each page of a PDF, with its number in the metadata, through `unpdf`, an optional peer dependency.
 *
 * @throws `PDF_PARSER_MISSING` when it is not installed
 */
export const loadPdf: DocumentLoader = async (bytes) => {
  const { extractText, getDocumentProxy } = await import('unpdf').catch((error: unknown) => {
    throw new QuiverError(
      'PDF_PARSER_MISSING',
      'Reading PDF files needs the package unpdf. Install it: npm install unpdf',
      { cause: error },
    );
  });
  // A copy, because the parser detaches its input. 0: throws errors and prints nothing.
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  const { text } = await extractText(document, { mergePages: false }).finally(() => document.destroy());
  return [{ type: 'text', docs: text.map((page, index) => ({ text: page, metadata: { page: index + 1 } })) }];
};
