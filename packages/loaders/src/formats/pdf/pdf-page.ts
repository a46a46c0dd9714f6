import type { PageBox } from '@quiver/rag/document';
import { readLines, type Line, type PageContext, type PdfFont } from './pdf-lines.js';
import type { Pdfium } from './pdfium.js';

export interface PdfPage {
  /** From 1. */
  readonly number: number;
  readonly lines: readonly Line[];
  /** Drawn lines, from left to right and from top to bottom. */
  readonly rows: readonly PageBox[];
  readonly columns: readonly PageBox[];
  /** Texts of notes and fields that are not drawn, and the text that was recognized. */
  readonly notes: readonly string[];
  /** Whether something is drawn, and no text that can be read. */
  readonly isUnreadable: boolean;
}

const [maxObjects, maxRules, maxThickness] = [100_000, 1000, 3];
const pathType = 2;
const [linkType, widgetType] = [2, 20];

export function readPage(pdfium: Pdfium, document: number, number: number, fonts: Map<string, PdfFont>): PdfPage {
  const { call } = pdfium;
  let page = call.FPDF_LoadPage(document, number - 1);
  const notes = readNotes(pdfium, page);
  if (notes && call.FPDFPage_Flatten(page, 0) === 1) {
    // Fields and notes have become a part of the page.
    call.FPDF_ClosePage(page);
    page = call.FPDF_LoadPage(document, number - 1);
  }
  if (page === 0) return { number, lines: [], rows: [], columns: [], notes: [], isUnreadable: false };
  const toShown = readTransform(pdfium, page);
  const [rows, columns] = readRules(pdfium, page, toShown);
  const lines = readLines(pdfium, page, { number, fonts, columns, toShown });
  const text = lines.map((line) => line.text).join('\n');
  const isReadable = (text.split('\uFFFD').length - 1) * 5 < text.length;
  const isUnreadable = call.FPDFPage_CountObjects(page) > 0 && !isReadable && !notes?.length;
  call.FPDF_ClosePage(page);
  const plain = notes && text.replace(/\s/g, '');
  const hidden = notes?.filter((note) => !plain!.includes(note.replace(/\s/g, ''))) ?? [];
  return { number, lines: isUnreadable ? [] : lines, rows, columns, notes: hidden, isUnreadable };
}

function readTransform(pdfium: Pdfium, page: number): PageContext['toShown'] {
  pdfium.call.FPDF_GetPageBoundingBox(page, pdfium.out);
  const [x0, y1, x1, y0] = pdfium.results;
  const transforms: PageContext['toShown'][] = [
    (left, bottom, right, top) => [left - x0, y1 - top, right - x0, y1 - bottom],
    (left, bottom, right, top) => [bottom - y0, left - x0, top - y0, right - x0],
    (left, bottom, right, top) => [x1 - right, bottom - y0, x1 - left, top - y0],
    (left, bottom, right, top) => [y1 - top, x1 - right, y1 - bottom, x1 - left],
  ];
  return transforms[pdfium.call.FPDFPage_GetRotation(page)] ?? transforms[0]!;
}

/** Reads the texts of notes and fields; `undefined` where there are none. */
function readNotes(pdfium: Pdfium, page: number): string[] | undefined {
  const { call } = pdfium;
  let notes: string[] | undefined;
  for (let index = 0; index < Math.min(call.FPDFPage_GetAnnotCount(page), maxObjects); index += 1) {
    const note = call.FPDFPage_GetAnnot(page, index);
    const type = call.FPDFAnnot_GetSubtype(note);
    if (type !== linkType) {
      const text = pdfium.with(type === widgetType ? 'V' : 'Contents', (key) =>
        pdfium.text((buffer, size) => call.FPDFAnnot_GetStringValue(note, key, buffer, size)).trim(),
      );
      notes = [...(notes ?? []), ...(text === '' ? [] : [text])];
    }
    call.FPDFPage_CloseAnnot(note);
  }
  return notes;
}

/** Finds drawn lines: rows and columns. */
function readRules(pdfium: Pdfium, page: number, toShown: PageContext['toShown']): [PageBox[], PageBox[]] {
  const { call, out } = pdfium;
  const [rows, columns]: [PageBox[], PageBox[]] = [[], []];
  const count = Math.min(call.FPDFPage_CountObjects(page), maxObjects);
  for (let index = 0; index < count && rows.length + columns.length < maxRules; index += 1) {
    const object = call.FPDFPage_GetObject(page, index);
    if (call.FPDFPageObj_GetType(object) !== pathType) continue;
    call.FPDFPageObj_GetBounds(object, out, out + 4, out + 8, out + 12);
    const [x0, y0, x1, y1] = pdfium.results;
    const rule = toShown(x0, y0, x1, y1);
    const [width, height] = [rule[2] - rule[0], rule[3] - rule[1]];
    if (Math.min(width, height) < maxThickness && Math.max(width, height) > 2 * maxThickness)
      (width > height ? rows : columns).push(rule);
  }
  return [rows, columns];
}
