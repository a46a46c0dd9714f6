import { init } from '@embedpdf/pdfium';
import { describe, expect, test, vi } from 'vitest';
import { expectError } from '../../../../../scripts/test-error.ts';
import type { SkippedFile } from '../document-loader.js';
import { loadDocument, type LoadDocumentOptions } from '../../load-document.js';
import { load, read } from '../../load-pdf.fixture.js';
import { column, left, right, scan, writePage, writePdf, type PlacedText } from './pdf-document.fixture.js';

describe('PDF pages', () => {
  test('are read column by column, below the lines that cross both', async () => {
    const title = { text: 'How the store answers a query and how it writes records', x: 90, y: 760, size: 16 };
    expect(await read([[title, ...column(60, 700, left), ...column(320, 700, right)]])).toEqual([
      `# ${title.text}\n\n${left.join(' ')}\n\n${right.join(' ')}`,
    ]);
  });

  test('get headings by font size, and paragraphs by distance and indentation', async () => {
    const page = [
      { text: 'Storage', x: 60, y: 760, size: 20 },
      { text: 'Files', x: 60, y: 730, size: 14 },
      ...column(60, 700, ['The store writes a folder of files for every', 'index, each with a checksum.']),
      ...column(60, 660, ['A file is never changed after it was written to', 'its end.']),
      { text: 'An indented line starts a paragraph of its own', x: 75, y: 636 },
      { text: 'that continues here.', x: 60, y: 624 },
    ];
    expect(await read([page])).toEqual([
      [
        '# Storage',
        '## Files',
        'The store writes a folder of files for every index, each with a checksum.',
        'A file is never changed after it was written to its end.',
        'An indented line starts a paragraph of its own that continues here.',
      ].join('\n\n'),
    ]);
  });

  test('become Markdown tables where the cells of three rows are aligned', async () => {
    const rows = [
      ['Country', 'Capital', 'Inhabitants'],
      ['Norway', 'Oslo', '5 500 000'],
      ['Portugal', 'Lisbon', '10 300 000'],
      ['Peru', 'Lima | Callao', '34 000 000'],
    ];
    const cells = rows.flatMap((row, index) =>
      row.map((text, cell) => ({ text, x: [60, 180, 400][cell]!, y: 700 - 14 * index })),
    );
    const before = { text: 'The table lists three countries and their capitals.', x: 60, y: 740 };
    expect(await read([[before, ...cells]])).toEqual([
      [
        `${before.text}\n`,
        '| Country | Capital | Inhabitants |',
        '| --- | --- | --- |',
        '| Norway | Oslo | 5 500 000 |',
        '| Portugal | Lisbon | 10 300 000 |',
        String.raw`| Peru | Lima \| Callao | 34 000 000 |`,
      ].join('\n'),
    ]);
  });

  test('join words that are hyphenated at a line end, but not compounds', async () => {
    const lines = [
      'A well-known problem of docu-',
      'ments: the most well-',
      'known words break, and so do Mc-',
      'Donald and 1990-',
    ];
    expect(await read([[...column(60, 700, [...lines, '2000 in a line.'])]])).toEqual([
      'A well-known problem of documents: the most well-known words break, and so do Mc- Donald and 1990- 2000 in a line.',
    ]);
  });

  test('keep lines, indentation and empty lines of listings', async () => {
    const code = [
      { text: 'if (ready) {', x: 60, y: 700 },
      { text: 'start();', x: 72, y: 688 },
      { text: '}', x: 60, y: 676 },
      { text: 'stop();', x: 60, y: 652 },
    ].map((line): PlacedText => ({ ...line, font: 'Courier' }));
    expect(await read([[{ text: 'Run this:', x: 60, y: 730 }, ...code]])).toEqual([
      'Run this:\n\n```\nif (ready) {\n  start();\n}\n\nstop();\n```',
    ]);
  });

  test('have listings in fonts that do not say that their letters have one width', async () => {
    const code = ['if (isReady(store)) {', 'openIndex(store);', 'return readAll(store);', 'closeIndex(store);'];
    const lines = column(60, 600, code).map((line): PlacedText => ({ ...line, font: 'Typewriter' }));
    expect(await read([[...column(60, 700, left), ...lines]])).toEqual([
      `${left.join(' ')}\n\n\`\`\`\n${code.join('\n')}\n\`\`\``,
    ]);
  });

  test('have headers once at the end, where they are not searched, and page numbers never', async () => {
    const pages = ['one', 'two', 'three', 'four'].map((word, index) => [
      { text: 'Annual report', x: 250, y: 780 },
      { text: `This is page ${word} of the report.`, x: 60, y: 700 },
      { text: `${index + 5}`, x: 300, y: 20 },
    ]);
    const document = await load(pages);
    expect(document.getText()).toEqual([
      'This is page one of the report.\n\nThis is page two of the report.\n\nThis is page three of the report.\n\nThis is page four of the report.\n\nAnnual report',
    ]);
    expect(document.skippedText).toEqual({ boilerplate: 'Annual report'.length });
  });

  test('keep the rows of a table that goes over several pages', async () => {
    const values = (page: number, line: number): number[] =>
      [0, 1, 2].map((cell) => 1000 * page + 10 * line + 137 * cell);
    const table = [1, 2, 3, 4].map((page) =>
      Array.from({ length: 8 }, (_, line) =>
        values(page, line).map((value, cell) => ({ text: `${value}.50`, x: 60 + 100 * cell, y: 700 - 14 * line })),
      ).flat(),
    );
    expect((await read(table)).join().match(/\d+\.50/g)).toHaveLength(4 * 8 * 3);
    const statement = [1, 2, 3, 4].map((page) =>
      column(
        60,
        700,
        Array.from({ length: 6 }, (_, line) => `${10 + line}.0${page}.2026 Payment of ${37 * page + 11 * line}.10 EUR`),
      ),
    );
    expect((await read(statement)).join().match(/Payment of/g)).toHaveLength(4 * 6);
  });

  test('keep numbered headings, and remove headers with a page number', async () => {
    const pages = ['good', 'bad', 'ugly'].map((word, index) => [
      { text: `Part ${word}`, x: 60, y: 780 },
      { text: `${index + 7}`, x: 500, y: 780 },
      { text: `Experiment ${index + 1}`, x: 60, y: 740, size: 20 },
      { text: 'The liquid was heated.', x: 60, y: 700 },
      { text: `It went ${word}.`, x: 60, y: 600 },
      { text: `Page ${index + 7} of 9`, x: 60, y: 20 },
    ]);
    expect(await read(pages)).toEqual([
      [
        '# Experiment 1\n\nThe liquid was heated.\n\nIt went good.',
        '# Experiment 2\n\nThe liquid was heated.\n\nIt went bad.',
        '# Experiment 3\n\nThe liquid was heated.\n\nIt went ugly.',
        'Part good\nPage 7 of 9\nPart bad\nPart ugly',
      ].join('\n\n'),
    ]);
  });

  test('have indexes that are not searched, also in a font of code and next to text', async () => {
    const entries = ['alpha . . . 3, 17', 'beta 4', 'gamma . . . 5, 7', 'delta . . 8, 9,', '10, 11'];
    const lines = column(60, 600, entries).map((line): PlacedText => ({ ...line, font: 'Courier' }));
    const document = await load([[...column(60, 700, left), ...lines]]);
    expect(document.skippedText).toEqual({ contents: entries.slice(0, 4).join('').length });
    expect((await document.chunk()).map(({ text }) => text)).toEqual([left.join(' '), '```\n10, 11\n```']);
  });

  test('have contents without dots and running titles that are not searched', async () => {
    const titles = ['Storage', 'Queries', 'Filters', 'Backups'];
    const contents = column(
      60,
      700,
      titles.map((title, index) => `${index + 1} ${title} ${index + 2}`),
    );
    const pages = titles.map((title, index): PlacedText[] => [
      { text: titles[index - 1] ?? '', x: 400, y: 780 },
      { text: `${index + 1} ${title}`, x: 60, y: 740, font: 'Helvetica-Bold' },
      { text: `The page about ${title.toLowerCase()} has one sentence.`, x: 60, y: 700 },
    ]);
    const document = await load([contents, ...pages]);
    const text = titles.map(
      (title, index) => `# ${index + 1} ${title}\n\nThe page about ${title.toLowerCase()} has one sentence.`,
    );
    expect((await document.chunk()).map((chunk) => chunk.text)).toEqual(text);
    expect(document.skippedText).toEqual({ contents: 44, boilerplate: 'Storage\nQueries\nFilters'.length });
  });

  test('have lists, also without spaces behind the bullets', async () => {
    const items = column(60, 700, [
      '\u0095 Engines compare vectors.',
      '\u0095Filters remove rows.',
      '(c) Readers wait.',
    ]);
    expect(await read([items])).toEqual(['- Engines compare vectors.\n\n- Filters remove rows.\n\n(c) Readers wait.']);
  });

  test('escape text that looks like a heading', async () => {
    expect(await read([[{ text: '# not a heading', x: 60, y: 700 }]])).toEqual([String.raw`\# not a heading`]);
  });

  test('report a scan without text, or read it with a callback', async () => {
    const pages = [[{ text: 'Text.', x: 60, y: 700 }], scan, ''];
    const skipped: SkippedFile[] = [];
    const onSkip = (file: SkippedFile): void => void skipped.push(file);
    expect(await read(pages, { onSkip })).toEqual(['Text.']);
    expect(skipped).toEqual([{ path: 'manual.pdf#page=2', page: 2, reason: 'no text' }]);
    skipped.length = 0;
    const document = await load(pages, {
      onSkip,
      ocr: async ({ name, page, image }) => {
        const pixels = new DataView((await image({ resolution: 36 })).buffer).getUint32(16);
        return `${name.slice(7)} ${page}: ${pixels} px`;
      },
    });
    expect(await document.chunk({ maxSize: 16, overlap: 0 })).toMatchObject([
      { text: 'Text.', metadata: { page: 1 } },
      { text: 'pdf 2: 300 px', metadata: { page: 2 } },
    ]);
    expect(skipped).toEqual([]);
    const failure = new Error('no language data');
    expect(await read(pages, { onSkip, ocr: () => Promise.reject(failure) })).toEqual(['Text.']);
    expect(skipped).toEqual([{ path: 'manual.pdf#page=2', page: 2, reason: 'no text', error: failure }]);
    await expectError(read([scan]), 'DOCUMENT_EMPTY');
  });

  test('give chunks their number and the rectangle around them', async () => {
    const document = await load([
      [],
      [...column(60, 700, ['First line', 'and second.']), ...column(100, 600, ['Another paragraph.'])],
    ]);
    const [whole] = await document.chunk();
    expect(whole?.metadata).toMatchObject({
      page: 2,
      source: 'manual.pdf',
      box: [60, expect.closeTo(90.5, 0), expect.any(Number), expect.closeTo(202.2, 0)],
    });
    const [first, second] = await document.chunk({ maxSize: 25, overlap: 0 });
    expect(first?.metadata.box?.slice(0, 2)).toEqual([60, expect.closeTo(90.5, 0)]);
    expect(second).toMatchObject({
      text: 'Another paragraph.',
      metadata: { box: [100, expect.closeTo(190.5, 0), expect.any(Number), expect.closeTo(202.2, 0)] },
    });
  });

  test('stop for the signal', async () => {
    const controller = new AbortController();
    const ocr = vi.fn(() => {
      controller.abort();
      throw new Error('stopped');
    });
    await expect(read([scan, scan], { ocr, signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(ocr).toHaveBeenCalledTimes(1);
  });
});

describe('PDF texts', () => {
  const helvetica = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
  const textOf = async (file: Uint8Array, options: LoadDocumentOptions = {}): Promise<string> =>
    (await loadDocument(file, { name: 'a.pdf', ...options }))[0]!.getText().join();

  test.each([
    ['UniGB-UTF16-H', 'GB1', '你好世界，这是一个测试。'],
    ['UniJIS-UTF16-H', 'Japan1', 'この説明書は日本語で書かれています。'],
    ['UniKS-UTF16-H', 'Korea1', '이설명서는한국어로쓰였습니다.'],
  ])('have the letters of the character map %s, whose equal widths are no listing', async (map, ordering, text) => {
    const hex = [...text].map((letter) => letter.charCodeAt(0).toString(16).padStart(4, '0')).join('');
    const file = writePage('/Resources << /Font << /F1 5 0 R >> >>', `BT /F1 12 Tf 72 700 Td <${hex}> Tj ET`, [
      `<< /Type /Font /Subtype /Type0 /BaseFont /Mincho /Encoding /${map} /DescendantFonts [6 0 R] >>`,
      `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Mincho /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 4 >> /FontDescriptor 7 0 R >>`,
      '<< /Type /FontDescriptor /FontName /Mincho /Flags 5 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>',
    ]);
    expect(await textOf(file)).toBe(text);
  });

  test('have the ligatures of bitmap fonts, and a mark for unknown glyphs', async () => {
    const codes = Array.from({ length: 256 }, (_, code) => code);
    const glyph = '600 0 0 0 500 700 d1 0 0 500 700 re f';
    const text = String.raw`The e\033ect of coe\036cients, pages 6\0259.\001`;
    const file = writePage('/Resources << /Font << /F1 5 0 R >> >>', `BT /F1 12 Tf 72 700 Td (${text}) Tj ET`, [
      `<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 0 /LastChar 255 /Widths [${'600 '.repeat(256)}] /Encoding << /Differences [${codes.map((code) => `${code} /a${code}`).join(' ')}] >> /CharProcs << ${codes.map((code) => `/a${code} 6 0 R`).join(' ')} >> /Resources << >> >>`,
      `<< /Length ${glyph.length} >>\nstream\n${glyph}\nendstream`,
    ]);
    expect(await textOf(file)).toContain('The effect of coefficients, pages 6–9.\uFFFD');
  });

  test('run from right to left in Hebrew, however the file places the letters', async () => {
    const names = ['afii57689', 'afii57676', 'afii57669', 'afii57677', 'afii57682'];
    const font = `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 32 /LastChar 69 /Widths [${'500 '.repeat(33)}${'600 '.repeat(5)}] /Encoding << /Differences [65 ${names.map((name) => `/${name}`).join(' ')}] >> >>`;
    const [logical, visual] = ['ABCD ECBD', 'DCBA DBCE'];
    const place = (letters: string, y: number, step: number): string =>
      [...letters].map((letter, at) => `BT /F1 12 Tf ${300 + step * at} ${y} Td (${letter}) Tj ET`).join('\n');
    const content = [place(logical, 700, -7.2), place(visual, 600, 7.2)].join('\n');
    const file = writePage('/Resources << /Font << /F1 5 0 R >> >>', content, [font]);
    expect(await textOf(file)).toBe('שלום עולם\n\nעולם שלום');
  });

  test('keep small raised letters in their line', async () => {
    const content =
      'BT /F1 12 Tf 72 700 Td (Let x) Tj /F1 7 Tf -2 Ts (i) Tj 0 Ts /F1 12 Tf (, y) Tj /F1 7 Tf -2 Ts (i) Tj 0 Ts /F1 12 Tf ( be pairs.) Tj ET';
    const file = writePage('/Resources << /Font << /F1 5 0 R >> >>', content, [helvetica]);
    expect(await textOf(file)).toBe('Let xi, yi be pairs.');
  });

  test('have the values of forms and the texts of notes', async () => {
    const page = '/Resources << /Font << /F1 5 0 R >> >> /Annots [6 0 R 7 0 R]';
    const file = writePage(page, 'BT /F1 12 Tf 72 700 Td (Your name) Tj ET', [
      helvetica,
      '<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada Lovelace) /Rect [200 690 300 710] >>',
      '<< /Type /Annot /Subtype /Text /Contents (Check the spelling.) /Rect [10 10 30 30] >>',
    ]);
    expect(await textOf(file)).toBe('Your name\n\nAda Lovelace\n\nCheck the spelling.');
  });

  test('have places on the page as it is shown, also when it is turned', async () => {
    const page = '/Rotate 90 /Resources << /Font << /F1 5 0 R >> >>';
    const content = 'BT /F1 10 Tf 0 1 -1 0 100 50 Tm (Landscape) Tj ET BT /F1 10 Tf 50 400 Td (Upright) Tj ET';
    const [document] = await loadDocument(writePage(page, content, [helvetica]), { name: 'a.pdf' });
    const [chunk] = await document!.chunk({ maxSize: 10, overlap: 0 });
    expect(chunk).toMatchObject({ text: 'Landscape', metadata: { page: 1 } });
    const [x, y, endX, endY] = chunk!.metadata.box!;
    expect([x, y < 100, y > 85, endX > 90, endY > 100]).toEqual([50, true, true, true, true]);
  });

  test('of encrypted files need the password', async () => {
    const file = await encrypt(writePdf([[{ text: 'Secret', x: 60, y: 700 }]]), 'sesame');
    expect(await textOf(file, { password: 'sesame' })).toBe('Secret');
    await expectError(textOf(file), 'DOCUMENT_ENCRYPTED', 'Pass its `password`');
    await expect(textOf(file, { password: 'x' })).rejects.toMatchObject({
      message: expect.stringContaining('`password` is wrong'),
    });
  });
});

/** Encrypts a file by PDFium. */
async function encrypt(file: Uint8Array, password: string): Promise<Uint8Array> {
  const { pdfium, ...call } = await init({});
  call.PDFiumExt_Init();
  const { malloc, memory } = pdfium.wasmExports as typeof pdfium.wasmExports & { memory: { buffer: ArrayBuffer } };
  const address = malloc(file.length);
  new Uint8Array(memory.buffer).set(file, address);
  const document = call.FPDF_LoadMemDocument(address, file.length, '');
  call.EPDF_SetEncryption(document, password, password, 0);
  const writer = call.PDFiumExt_OpenFileWriter();
  call.PDFiumExt_SaveAsCopy(document, writer);
  const size = call.PDFiumExt_GetFileWriterSize(writer);
  const target = malloc(size);
  call.PDFiumExt_GetFileWriterData(writer, target, size);
  return new Uint8Array(memory.buffer, target, size).slice();
}
