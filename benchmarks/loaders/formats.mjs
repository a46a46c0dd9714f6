// CPU time of loadDocument() for each format, against the parser alone, with the real files of the field benchmark:
//   node loaders/formats.mjs [--format pdf,docx] [--rounds 5] [--megabytes 0.5]
// Every round reads all files of a format, or a sample of --megabytes, with both in turn, in one process, after a round to warm up. The
// time of loadDocument() includes its worker thread. The parser alone drops what it has read.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { init } from '@embedpdf/pdfium';
import { setDefaultLogger } from '@quiver/core';
import { loadDocument } from '@quiver/loaders/document';
import { parse } from 'csv-parse/sync';
import { unzipSync } from 'fflate';
import { Parser } from 'htmlparser2';
import mammoth from 'mammoth';
import PostalMime from 'postal-mime';
import readWorkbook from 'read-excel-file/universal';
import { defaultCache, readDocuments } from '../field/documents.mjs';
import { createRandom } from '../random.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { inTurn, median, ratiosOf, table, timed, withSpread } from '../statistics.mjs';

const {
  cache,
  format,
  rounds,
  megabytes: most,
} = readFlags({
  cache: { type: 'string', default: defaultCache },
  format: { type: 'string' },
  rounds: { type: 'string', default: '5' },
  megabytes: { type: 'string', default: 'Infinity' },
});

const textOf = (bytes) => new TextDecoder().decode(bytes);

const { pdfium: pdfiumModule, PDFiumExt_Init: startPdfium } = await init({});
startPdfium();
const pdfium = pdfiumModule.wasmExports;

/** Reads each character with its box. */
function parsePdf(bytes) {
  const file = pdfium.malloc(bytes.length + 32);
  const box = file + bytes.length;
  pdfiumModule.HEAPU8.set(bytes, file);
  const document = pdfium.FPDF_LoadMemDocument(file, bytes.length, 0);
  for (let number = 0; number < pdfium.FPDF_GetPageCount(document); number += 1) {
    const page = pdfium.FPDF_LoadPage(document, number);
    const text = pdfium.FPDFText_LoadPage(page);
    for (let index = pdfium.FPDFText_CountChars(text) - 1; index >= 0; index -= 1) {
      pdfium.FPDFText_GetUnicode(text, index);
      pdfium.FPDFText_GetLooseCharBox(text, index, box);
    }
    pdfium.FPDFText_ClosePage(text);
    pdfium.FPDF_ClosePage(page);
  }
  pdfium.FPDF_CloseDocument(document);
  pdfium.free(file);
}

const parseMarkup = (text, options = {}) => new Parser({ ontext() {} }, options).end(text);

function parseArchive(bytes, isText) {
  for (const content of Object.values(unzipSync(bytes, { filter: ({ name }) => isText.test(name) })))
    parseMarkup(textOf(content), { xmlMode: true });
}

/** Parsers by the extension of the files. */
const parsers = {
  pdf: { name: 'PDFium, each character with its box', run: parsePdf },
  docx: { name: 'mammoth', run: (bytes) => mammoth.convertToHtml({ buffer: Buffer.from(bytes) }) },
  xlsx: { name: 'read-excel-file', run: (bytes) => readWorkbook(bytes.slice().buffer) },
  csv: { name: 'csv-parse', run: (bytes) => parse(textOf(bytes), { relax_column_count: true, relax_quotes: true }) },
  html: { name: 'htmlparser2', run: (bytes) => parseMarkup(textOf(bytes)) },
  epub: { name: 'fflate, htmlparser2', run: (bytes) => parseArchive(bytes, /\.x?html?$/i) },
  odt: { name: 'fflate, htmlparser2', run: (bytes) => parseArchive(bytes, /^content\.xml$/) },
  eml: { name: 'postal-mime', run: (bytes) => PostalMime.parse(bytes) },
  ipynb: { name: 'JSON.parse', run: (bytes) => JSON.parse(textOf(bytes)) },
};

setDefaultLogger(false);
const { folder, sources, missing } = readDocuments(cache);
for (const sentence of missing) console.log(sentence);
console.log(`Node ${process.version}, load ${loadavg()[0].toFixed(1)}; medians of ${rounds} rounds\n`);
const rows = [];
for (const [extension, parser] of Object.entries(parsers)) {
  if (format && !format.split(',').includes(extension)) continue;
  const files = [...sources.keys()].filter((path) => path.endsWith(`.${extension}`));
  rows.push(await compare(extension, parser, files));
}
console.log(table(['format', 'files', 'MB', 'parser', 'CPU ms/MB, parser', 'CPU ms/MB, loadDocument', 'ratio'], rows));

async function compare(extension, parser, names) {
  const files = [];
  let size = 0;
  for (const name of shuffle(names)) {
    if (size >= Number(most) * 1e6) break;
    const bytes = new Uint8Array(readFileSync(join(folder, name)));
    // Files without text, and those that a parser rejects.
    const isMeasured = await isReadable(
      () => loadDocument(bytes, { name }),
      () => parser.run(bytes),
    );
    if (!isMeasured) continue;
    files.push({ name, bytes });
    size += bytes.length;
  }
  const megabytes = size / 1e6;
  // Small collections are read several times, so that the clock measures them.
  const repeats = Math.max(1, Math.round(Math.min(1, Number(most)) / megabytes));
  const measureAll = (run) =>
    timed(async () => {
      for (let repeat = 0; repeat < repeats; repeat += 1) for (const file of files) await run(file);
    });
  const systems = [({ bytes }) => parser.run(bytes), ({ name, bytes }) => loadDocument(bytes, { name })];
  const measured = await inTurn(systems, Number(rounds) + 1, measureAll);
  // Round 0 warms up.
  const [alone, loaded] = measured.map((own) => own.slice(1).map(({ cpu }) => cpu / megabytes / repeats));
  const ratios = ratiosOf(loaded, alone);
  record(`loaders/${extension}/cpu-to-parser/Quiver`, ratios);
  const figures = [median(alone).toFixed(0), median(loaded).toFixed(0), withSpread(ratios)];
  return [extension, files.length, megabytes.toFixed(2), parser.name, ...figures];
}

/** Returns the files in an order that is the same in every run, so that a sample has files of each package. */
function shuffle(names) {
  const random = createRandom(1);
  const keyed = names.toSorted().map((name) => ({ name, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ name }) => name);
}

async function isReadable(...runs) {
  try {
    for (const run of runs) await run();
    return true;
  } catch {
    return false;
  }
}
