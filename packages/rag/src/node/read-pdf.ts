import { QuiverError } from '@quiver/core';
import type { SourceDocument } from '../document/document.js';

/**
 * The text of each page of a PDF, with its number in the metadata, through `unpdf`, an optional peer dependency.
 *
 * @throws `PDF_PARSER_MISSING` when it is not installed; what it throws for files that are damaged or encrypted
 */
export async function readPdf(bytes: Uint8Array): Promise<SourceDocument[]> {
  const { extractText, getDocumentProxy } = await import('unpdf').catch((error: unknown) => {
    throw new QuiverError(
      'PDF_PARSER_MISSING',
      'Reading PDF files needs the package unpdf. Install it: npm install unpdf',
      {
        cause: error,
      },
    );
  });
  // 0: errors are thrown, and nothing is printed.
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { text } = await extractText(document, { mergePages: false }).finally(() => document.destroy());
  return text.map((page, index) => ({ text: page, metadata: { page: index + 1 } }));
}
