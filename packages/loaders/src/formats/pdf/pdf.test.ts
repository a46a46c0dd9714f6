import { array, assert, constant, double, integer, oneof, property, record, string, tuple } from 'fast-check';
import { MDocument } from '@quiver/rag/document';
import { describe, expect, test, vi } from 'vitest';
import type { SkippedFile } from '../document-loader.js';
import { load, read } from '../../load-pdf.fixture.js';
import { column, left, right, scan, type PlacedText } from './pdf-document.fixture.js';
import { readPage } from './pdf-fragments.js';
import { toMarkdown } from './pdf-markdown.js';
import { FontWidths } from './pdf-widths.js';
import type { PageImage, RecognizeText } from './scanned-page.js';

describe('PDF pages', () => {
  test('are read column by column, below the lines that cross both', async () => {
    const title = { text: 'How the store answers a query and how it writes records', x: 90, y: 760, size: 16 };
    // In the file, lines of both columns alternate.
    const lines = column(60, 700, left).flatMap((line, index) => [line, { ...line, x: 320, text: right[index]! }]);
    expect(await read([[...lines, title]])).toEqual([`# ${title.text}\n\n${left.join(' ')}\n\n${right.join(' ')}`]);
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

  test('keep numbered headings, and remove page numbers next to changing headers', async () => {
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
        'Part good\n\n# Experiment 1\n\nThe liquid was heated.\n\nIt went good.',
        'Part bad\n\n# Experiment 2\n\nThe liquid was heated.\n\nIt went bad.',
        'Part ugly\n\n# Experiment 3\n\nThe liquid was heated.\n\nIt went ugly.',
        'Page 7 of 9',
      ].join('\n\n'),
    ]);
  });

  test('escape text that looks like a heading', async () => {
    expect(await read([[{ text: '# not a heading', x: 60, y: 700 }]])).toEqual([String.raw`\# not a heading`]);
  });

  test('report a scan without text, or read it with a callback', async () => {
    const pages = [[{ text: 'Text.', x: 60, y: 700 }], scan, ''];
    const skipped: SkippedFile[] = [];
    const onSkip = (file: SkippedFile): void => void skipped.push(file);
    expect(await read(pages, { onSkip })).toEqual(['Text.']);
    expect(skipped).toEqual([{ path: 'manual.pdf#page=2', reason: 'no text' }]);
    skipped.length = 0;
    const document = await load(pages, {
      onSkip,
      ocr: async ({ page, images }) => {
        const [image] = await images();
        return `Page ${page}: ${image?.width} pixels`;
      },
    });
    expect(await document.chunk({ maxSize: 16, overlap: 0 })).toMatchObject([
      { text: 'Text.', metadata: { page: 1 } },
      { text: 'Page 2: 2 pixels', metadata: { page: 2 } },
    ]);
    expect(skipped).toEqual([]);
    const failure = new Error('no language data');
    expect(await read(pages, { onSkip, ocr: () => Promise.reject(failure) })).toEqual(['Text.']);
    expect(skipped).toEqual([{ path: 'manual.pdf#page=2', reason: 'no text', error: failure }]);
    await expect(read([scan])).rejects.toMatchObject({ code: 'DOCUMENT_EMPTY' });
  });

  test('have images only until they are recognized', async () => {
    let late: (() => Promise<PageImage[]>) | undefined;
    const ocr: RecognizeText = ({ images }) => {
      late = images;
      return 'Recognized.';
    };
    expect(await read([scan], { ocr })).toEqual(['Recognized.']);
    await expect(late?.()).rejects.toMatchObject({ code: 'DOCUMENT_UNREADABLE' });
  });

  test('give chunks their number and the rectangle around them', async () => {
    const document = await load([
      [],
      [...column(60, 700, ['First line', 'and second.']), ...column(100, 600, ['Another paragraph.'])],
    ]);
    const [whole] = await document.chunk();
    expect(whole?.metadata).toMatchObject({ page: 2, source: 'manual.pdf', box: [60, 90, expect.any(Number), 202.5] });
    const [first, second] = await document.chunk({ maxSize: 25, overlap: 0 });
    expect(first?.metadata.box?.slice(0, 2)).toEqual([60, 90]);
    expect(second).toMatchObject({
      text: 'Another paragraph.',
      metadata: { box: [100, 190, expect.any(Number), 202.5] },
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

const item = record({
  str: oneof(string(), constant('word'), constant(undefined)),
  width: oneof(double(), integer({ min: 0, max: 300 })),
  transform: oneof(
    tuple(...Array.from({ length: 6 }, () => double())),
    tuple(integer({ min: 0, max: 550 }), integer({ min: 0, max: 800 })).map(([x, y]) => [9, 0, 0, 9, x, y]),
    constant(undefined),
  ),
});

describe('toMarkdown', () => {
  const view = [1, 0, 0, -1, 0, 800];

  test('returns the same text for the same items, also with invalid places', () => {
    assert(
      property(array(array(item, { maxLength: 60 }), { maxLength: 4 }), (pages) => {
        const contents = pages.map((items) => readPage({ content: { items }, view }, new FontWidths()));
        const first = toMarkdown(contents);
        expect(toMarkdown(contents)).toEqual(first);
        // Places and skipped parts are valid.
        expect(() => new MDocument({ ...first, type: 'markdown' })).not.toThrow();
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['in one line', (index: number) => [index / 10, 400]],
    ['in one column', (index: number) => [60, index / 10]],
    ['in a grid', (index: number) => [(index % 60) * 10, Math.floor(index / 60)]],
    ['in rows of two cells', (index: number) => [(index % 2) * 200, Math.floor(index / 2) * 0.9]],
  ] as const)('reads 30,000 items %s in one go', (_what, place) => {
    const items = Array.from({ length: 30_000 }, (_, index) => {
      const [x, y] = place(index);
      return { str: `w${index % 100}`, width: 0.6, transform: [0.7, 0, 0, 0.7, x, y] };
    });
    const { text } = toMarkdown([readPage({ content: { items }, view }, new FontWidths())]);
    expect(text.length).toBeGreaterThan(30_000);
  });
});
