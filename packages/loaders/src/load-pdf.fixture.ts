import type { MDocument } from '@quiver/rag/document';
import { writePdf, type Bookmark, type PlacedText } from './formats/pdf/pdf-document.fixture.js';
import { loadDocument, type LoadDocumentOptions } from './load-document.js';

/** Writes and loads a PDF document. */
export async function load(
  pages: readonly (readonly PlacedText[] | string)[],
  options: LoadDocumentOptions = {},
  bookmarks: readonly Bookmark[] = [],
): Promise<MDocument> {
  const [document] = await loadDocument(writePdf(pages, bookmarks), { name: 'manual.pdf', ...options });
  return document!;
}

/** The texts of the document: one. */
export async function read(...given: Parameters<typeof load>): Promise<string[]> {
  return (await load(...given)).getText();
}
