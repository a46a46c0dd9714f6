// CPU time of loadDocument() for each format, against the parser alone, with the real files of the field benchmark:
//   node loaders/formats.mjs [--format pdf,docx] [--rounds 5]
// Every round reads all files of a format with both in turn, in one process, after a round to warm up. The time of loadDocument() includes
// its worker thread. The parser alone drops what it has read.
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
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { median, withSpread } from '../statistics.mjs';

const { cache, format, rounds } = readFlags({
  cache: { type: 'string', default: defaultCache },
  format: { type: 'string' },
  rounds: { type: 'string', default: '5' },
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
console.log('| format | files | MB | parser | CPU ms/MB, parser | CPU ms/MB, loadDocument | ratio |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const [extension, parser] of Object.entries(parsers)) {
  if (format && !format.split(',').includes(extension)) continue;
  const files = [...sources.keys()].filter((path) => path.endsWith(`.${extension}`));
  await compare(extension, parser, files);
}

async function compare(extension, parser, names) {
  const files = [];
  for (const name of names) {
    const bytes = new Uint8Array(readFileSync(join(folder, name)));
    // Files without text, and those that a parser rejects.
    if (
      await isReadable(
        () => loadDocument(bytes, { name }),
        () => parser.run(bytes),
      )
    )
      files.push({ name, bytes });
  }
  const megabytes = files.reduce((sum, { bytes }) => sum + bytes.length, 0) / 1e6;
  // Small collections are read several times, so that the clock measures them.
  const repeats = Math.max(1, Math.round(1 / megabytes));
  const measureAll = async (run) => {
    const before = process.cpuUsage();
    for (let repeat = 0; repeat < repeats; repeat += 1) for (const file of files) await run(file);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e3 / megabytes / repeats;
  };
  const results = [];
  for (let round = 0; round <= Number(rounds); round += 1) {
    const alone = await measureAll(async ({ bytes }) => parser.run(bytes));
    const loaded = await measureAll(({ name, bytes }) => loadDocument(bytes, { name }));
    if (round > 0) results.push({ alone, loaded, ratio: loaded / alone });
  }
  const valuesOf = (key) => results.map((result) => result[key]);
  const cells = [
    extension,
    files.length,
    megabytes.toFixed(2),
    parser.name,
    median(valuesOf('alone')).toFixed(0),
    median(valuesOf('loaded')).toFixed(0),
  ];
  record(`loaders/${extension}/cpu-to-parser/Quiver`, valuesOf('ratio'));
  console.log(`| ${cells.join(' | ')} | ${withSpread(valuesOf('ratio'))} |`);
}

async function isReadable(...runs) {
  try {
    for (const run of runs) await run();
    return true;
  } catch {
    return false;
  }
}
