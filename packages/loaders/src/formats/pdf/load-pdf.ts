import { limitExceeded, type DocumentLoader } from '../document-loader.js';
import type { PdfFont } from './pdf-lines.js';
import { toMarkdown, type Outline } from './pdf-markdown.js';
import { readPage, type PdfPage } from './pdf-page.js';
import { titleKey } from './pdf-repeated.js';
import { openPdf, type Pdfium } from './pdfium.js';

const [maxPages, maxLines] = [100_000, 5_000_000];

/**
 * Reads a PDF document as Markdown, with the places of its parts on the pages, through PDFium.
 *
 * @throws `DOCUMENT_ENCRYPTED`
 */
export const loadPdf: DocumentLoader = (bytes, { name, password, recognized, draw, onSkip }) =>
  openPdf(bytes, { name, password }, (pdfium, document) => {
    const drawn = draw?.path.startsWith(`${name}#page=`) ? Number(draw.path.slice(name.length + 6)) : 0;
    if (draw && drawn > 0)
      return [{ type: 'text', docs: [], picture: drawPage(pdfium, document, drawn, draw.resolution) }];
    const count = pdfium.call.FPDF_GetPageCount(document);
    if (count > maxPages) {
      const problem = `it has ${count} pages, and the limit is ${maxPages}`;
      throw limitExceeded(name, problem, { limit: 'pages', max: maxPages, value: count });
    }
    const pages: PdfPage[] = [];
    const fonts = new Map<string, PdfFont>();
    let lines = 0;
    for (let number = 1; number <= count; number += 1) {
      const page = readPage(pdfium, document, number, fonts);
      lines += page.lines.length;
      if (lines > maxLines)
        throw limitExceeded(name, `it has more than ${maxLines} lines`, { limit: 'texts', max: maxLines });
      const path = `${name}#page=${number}`;
      const text = recognized?.get(path);
      if (text === undefined && page.isUnreadable) onSkip({ path, page: number, reason: 'no text' });
      pages.push(text === undefined ? page : { ...page, notes: [...page.notes, text] });
    }
    const read = toMarkdown(pages, readOutline(pdfium, document));
    return [{ type: 'markdown', docs: read.text === '' ? [] : [read] }];
  });

const [maxBookmarks, maxLevel] = [5000, 6];

/** Reads the bookmarks of a document: its headings as its author wrote them. */
function readOutline(pdfium: Pdfium, document: number): Outline {
  const { call } = pdfium;
  const outline: Outline = new Map();
  let count = 0;
  const read = (parent: number, level: number): void => {
    let item = call.FPDFBookmark_GetFirstChild(document, parent);
    for (; item !== 0 && count < maxBookmarks; item = call.FPDFBookmark_GetNextSibling(document, item)) {
      count += 1;
      const page = call.FPDFDest_GetDestPageIndex(document, call.FPDFBookmark_GetDest(document, item)) + 1;
      const title = pdfium.text((buffer, size) => call.FPDFBookmark_GetTitle(item, buffer, size));
      const key = `${page} ${titleKey(title)}`;
      if (!outline.has(key)) outline.set(key, level);
      if (level < maxLevel) read(item, level + 1);
    }
  };
  read(0, 1);
  return outline;
}

/** Draws a page as PNG. */
function drawPage(pdfium: Pdfium, document: number, number: number, resolution: number): Uint8Array {
  const { call, out } = pdfium;
  const page = call.FPDF_LoadPage(document, number - 1);
  const toPixels = (points: number): number => Math.max(1, Math.round((points * resolution) / 72));
  const [width, height] = [toPixels(call.FPDF_GetPageWidthF(page)), toPixels(call.FPDF_GetPageHeightF(page))];
  const bitmap = call.FPDFBitmap_Create(width, height, 1);
  if (bitmap === 0) throw new RangeError(`A picture of ${width} × ${height} pixels is too large.`);
  call.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
  const [withNotes, withRedFirst, compression] = [1, 16, 6];
  call.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, withNotes | withRedFirst);
  const pixels = call.FPDFBitmap_GetBuffer(bitmap);
  const size = call.EPDF_PNG_EncodeRGBA(pixels, width, height, call.FPDFBitmap_GetStride(bitmap), compression, out);
  const address = new Uint32Array(call.memory.buffer, out, 1)[0]!;
  const png = pdfium.bytes(address, size).slice();
  call.free(address);
  call.FPDFBitmap_Destroy(bitmap);
  call.FPDF_ClosePage(page);
  return png;
}
