import { limitExceeded, type DocumentLoader } from './document-loader.js';
import { encryptedDocument } from './zip.js';
import { maxItems, readPage, type PdfPage, type PdfTextContent, type PdfTextItem } from './pdf/pdf-fragments.js';
import { toMarkdown } from './pdf/pdf-markdown.js';
import { FontWidths } from './pdf/pdf-widths.js';
import { readOutline } from './pdf/pdf-outline.js';

const maxPages = 100_000;
/** Number of pieces of text in the document, in addition to the limit of each page. */
const maxTotalItems = 5_000_000;

/**
 * Reads a PDF document as Markdown, with the places of its parts on the pages, through `unpdf`. Scanned pages are recognized by `ocr`, or
 * reported without it.
 *
 * @throws `DOCUMENT_ENCRYPTED`
 */
export const loadPdf: DocumentLoader = async (bytes, { name, ocr, onSkip, signal }) => {
  const unpdf = await import('unpdf');
  // A copy, because the parser detaches its input. 0: throws errors and prints nothing.
  const document = await unpdf.getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 }).catch((cause: unknown) => {
    throw (cause as Error | undefined)?.name === 'PasswordException' ? encryptedDocument(name) : cause;
  });
  try {
    if (document.numPages > maxPages) {
      const problem = `it has ${document.numPages} pages, and the limit is ${maxPages}`;
      throw limitExceeded(name, problem, { limit: 'pages', max: maxPages, value: document.numPages });
    }
    const pages: PdfPage[] = [];
    const widths = new FontWidths();
    let items = 0;
    const scanned: number[] = [];
    const { OPS } = await unpdf.getResolvedPDFJS();
    for (let number = 1; number <= document.numPages; number++) {
      signal?.throwIfAborted();
      const page = await document.getPage(number);
      const content = await readText(page.streamTextContent());
      items += content.items.length;
      if (items > maxTotalItems) {
        const problem = `it has more than ${maxTotalItems} pieces of text`;
        throw limitExceeded(name, problem, { limit: 'texts', max: maxTotalItems });
      }
      pages.push(readPage({ content, view: page.getViewport({ scale: 1 }).transform }, widths));
      const isEmpty = content.items.every(({ str }) => typeof str !== 'string' || str.trim() === '');
      if (isEmpty) {
        const { fnArray }: { fnArray: number[] } = await page.getOperatorList();
        const images = new Set<number>([OPS.paintImageXObject, OPS.paintInlineImageXObject, OPS.paintImageMaskXObject]);
        if (fnArray.some((operator) => images.has(operator))) scanned.push(number);
      }
      page.cleanup();
    }
    const recognized = new Map<number, string>();
    for (const page of scanned) {
      const path = `${name}#page=${page}`;
      try {
        const images = () => unpdf.extractImages(document, page);
        const text = await ocr?.({ name, page, images, signal });
        if (text?.trim()) recognized.set(page - 1, text);
        else onSkip({ path, reason: 'no text' });
      } catch (error) {
        signal?.throwIfAborted();
        onSkip({ path, reason: 'no text', error });
      }
    }
    const read = toMarkdown(pages, await readOutline(document), recognized);
    return [{ type: 'markdown', docs: read.text === '' ? [] : [read] }];
  } finally {
    await document.destroy();
  }
};

/** Reads the text of a page up to a number of items. One page can draw the same text a million times. */
async function readText(stream: ReadableStream<PdfTextContent>): Promise<PdfTextContent> {
  const reader = stream.getReader();
  const items: PdfTextItem[] = [];
  const styles = {};
  while (items.length <= maxItems) {
    const { done, value } = await reader.read();
    if (done) return { items, styles };
    for (const item of value.items) items.push(item);
    Object.assign(styles, value.styles);
  }
  await reader.cancel(new Error('The page has too many texts.'));
  return { items, styles };
}
