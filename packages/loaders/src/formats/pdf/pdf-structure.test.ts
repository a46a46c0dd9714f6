import { describe, expect, test } from 'vitest';
import { load, read } from '../../load-pdf.fixture.js';
import { column, left, right, type PlacedText } from './pdf-document.fixture.js';

describe('headings', () => {
  const page = (title: string): PlacedText[] => [
    { text: title, x: 60, y: 740 },
    ...column(60, 700, left),
    ...column(60, 600, right),
  ];

  test('are those of the outline, whatever their size', async () => {
    const bookmarks = [
      { title: 'Reading', level: 1, page: 0 },
      { title: 'The log', level: 2, page: 1 },
      { title: 'Writing', level: 1, page: 1 },
    ];
    const pages = [page('1. Reading'), [...page('1.1 The Log'), { text: '2  Writing', x: 60, y: 400 }]];
    const [text] = await read(pages, {}, bookmarks);
    expect(text).toMatch(/^# 1\. Reading\n[^]*\n## 1\.1 The Log\n[^]*\n# 2 {1,2}Writing$/);
  });

  test('do not come from text that is larger than long listings', async () => {
    const listing = (y: number): PlacedText[] =>
      Array.from({ length: 24 }, (_, line) => ({
        text: `copy --force ${line} from/here to/there and/back`,
        x: 60,
        y: y - 10 * line,
        size: 8,
        font: 'Courier',
      }));
    const [text] = await read([[...column(60, 760, left), ...listing(680), ...listing(420)]]);
    expect(text).toContain('The engine compares');
    expect(text).not.toMatch(/^#/m);
  });
});

describe('headings in the size of the text', () => {
  const bold = (text: string, y: number, x = 60): PlacedText => ({ text, x, y, font: 'Helvetica-Bold' });

  test('are in a font of their own, above text that is not indented', async () => {
    const title = { text: 'The store', x: 60, y: 780, size: 18 };
    const page = [title, bold('Reading records', 740), ...column(60, 720, left)];
    const next = [bold('Writing records', 740), bold('The log', 722), ...column(60, 700, right)];
    const [text] = await read([page, next]);
    expect(text!.match(/^#+ .*/gm)).toEqual(['# The store', '## Reading records', '## Writing records', '## The log']);
  });

  test('have the levels of their numbers', async () => {
    const page = [
      bold('1 Reading', 740),
      ...column(60, 720, left),
      bold('1.1 Filters', 640),
      ...column(60, 620, right),
      bold('2 Writing', 540),
      ...column(60, 520, left),
    ];
    expect((await read([page]))[0]!.match(/^#+ .*/gm)).toEqual(['# 1 Reading', '## 1.1 Filters', '# 2 Writing']);
  });

  test('are not terms, words in a paragraph, and labels', async () => {
    const term = (name: string, y: number): PlacedText[] => [
      bold(name, y),
      ...column(96, y - 12, ['Number of records that the store keeps in', 'memory. Default: a thousand.']),
    ];
    const page = [
      ...column(60, 780, left),
      ...term('Cache size', 700),
      ...term('Queue size', 650),
      bold('Warning: never', 600),
      { text: 'stop the store while it', x: 150, y: 600 },
      { text: 'writes to its log, because it would have to read the log.', x: 60, y: 588 },
      bold('Note:', 540),
      ...column(60, 528, right),
    ];
    const [text] = await read([page]);
    expect(text).not.toMatch(/^#/m);
    expect(text).toContain('Cache size\n\nNumber of records that the store keeps in memory.');
  });

  test('are numbered lines, where they are in order and there is no outline', async () => {
    const sections = ['1.1 Reading', '1.2 Filters', '2.1 Writing'];
    const pages = (titles: readonly string[]): PlacedText[][] =>
      titles.map((title) => [{ text: title, x: 60, y: 740 }, ...column(60, 710, left), ...column(60, 600, right)]);
    const headings = (text: string): string[] => text.match(/^#+ .*/gm) ?? [];
    expect(headings((await read(pages(sections)))[0]!)).toEqual(sections.map((title) => `# ${title}`));
    expect(headings((await read(pages(sections.toReversed())))[0]!)).toEqual([]);
    const bookmarks = [{ title: 'Filters', level: 1, page: 1 }];
    expect(headings((await read(pages(sections), {}, bookmarks))[0]!)).toEqual(['# 1.2 Filters']);
  });

  test('are not entries of a table of contents, and letters in a drawing', async () => {
    const titles = ['Reading', 'Writing', 'Filters', 'Caches', 'Limits', 'Errors', 'Tables', 'Graphs'];
    const contents = titles.map((title, index) => bold(`${index + 1} ${title}`, 700 - 12 * index));
    const numbers = column(
      400,
      700,
      titles.map((_, index) => String(index + 2)),
    );
    const drawing = ['A', 'B C'].map((text, index) => ({ text, x: 60 + 40 * index, y: 300, size: 16 }));
    const page = [bold('1 Reading', 740), ...column(60, 720, left), bold('2 Writing', 600), ...column(60, 580, right)];
    const [text] = await read([
      [...contents, ...numbers],
      [...page, ...drawing],
    ]);
    expect(text!.match(/^#+ .*/gm)).toEqual(['# 1 Reading', '# 2 Writing']);
  });

  test('are found by the style of paragraphs, and not of a table that has more letters', async () => {
    const rows = Array.from({ length: 40 }, (_, row) =>
      ['measurement', 'temperature', `value ${row}`].map((text, cell) => ({
        text: `${text} ${row}`,
        x: 60 + 150 * cell,
        y: 600 - 12 * row,
        size: 8,
      })),
    );
    const [text] = await read([[...column(60, 740, left), ...rows.flat()]]);
    expect(text).toContain('| temperature 7 |');
    expect(text).not.toMatch(/^#/m);
  });
});

describe('headers', () => {
  const paragraphs = (seed: number): PlacedText[] =>
    column(
      60,
      700,
      left.map((line) => `${line} ${seed * 31}`),
    );

  test('are also the titles of chapters that have a page or two', async () => {
    const chapters = ['Reading', 'Writing', 'Filters', 'Caches', 'Limits'];
    const pages = chapters.map((chapter, index) => [
      { text: `CHAPTER ${index + 1}. ${chapter.toUpperCase()}`, x: 60, y: 780 },
      { text: `Chapter ${index + 1}. ${chapter}`, x: 60, y: 740, size: 18 },
      ...paragraphs(index),
    ]);
    const document = await load(pages);
    const [text] = document.getText();
    expect(text).toMatch(/^# Chapter 1\. Reading\n/);
    expect(text).toMatch(/CHAPTER 1\. READING\n.*\n.*\n.*\nCHAPTER 5\. LIMITS$/);
    const chunks = await document.chunk();
    expect(chunks.filter((chunk) => chunk.text.includes('CHAPTER'))).toEqual([]);
  });

  test('are not the first lines of pages that each begin with another text', async () => {
    const pages = ['Ada', 'Bob', 'Cem', 'Dee'].map((name, index) => [
      { text: `Invoice for ${name}`, x: 60, y: 780 },
      ...paragraphs(index),
    ]);
    expect((await load(pages)).skippedText).toEqual({});
  });

  test('are not titles: the first of pages in a row, and those of pages far apart', async () => {
    const titles = ['Results', 'Results', 'Results', 'Method', 'Data', 'Theory', 'Costs', 'Results'];
    const pages = titles.map((title, index) => [{ text: title, x: 60, y: 760, size: 20 }, ...paragraphs(index)]);
    expect((await read(pages))[0]!.match(/^#+ .*/gm)).toEqual([
      '# Results',
      '# Method',
      '# Data',
      '# Theory',
      '# Costs',
      '# Results',
    ]);
  });
});

describe('lists of pages', () => {
  const entries = [
    'Abstract',
    'Basics',
    'Caches',
    'Deletion',
    'Errors',
    'Filters',
    'Graphs',
    'Hybrid search',
    'Ingestion',
    'Joins',
  ];
  const contents = entries.map((entry, index) => `${index + 1} ${entry} . . . . . . . . . . . . . ${3 * index + 1}`);
  const index = entries.map((entry, place) => `${entry}, ${40 - place}, ${50 - place}`);

  test.each([
    ['contents', contents],
    ['contents', contents.map((line) => line.replaceAll(' .', ''))],
    ['index', index],
  ])('are not searched: %s', async (kind, lines) => {
    const document = await load([column(60, 700, lines), column(60, 700, left)]);
    const [text] = document.getText();
    expect(document.skippedText).toEqual({ [kind]: text!.indexOf(left[0]!) - 2 });
    expect((await document.chunk()).map(({ metadata }) => metadata['page'])).toEqual([2]);
  });

  test('are not tables whose last column is a number', async () => {
    const rows = entries.map((entry, place) => `${entry} costs ${(place * 7919) % 50}`);
    expect((await load([column(60, 700, rows.toReversed())])).skippedText).toEqual({});
  });

  test('may be on a page with other text', async () => {
    const document = await load([[...column(60, 700, contents.slice(0, 4)), ...column(60, 500, left)]]);
    const [text] = document.getText();
    expect(document.skippedText).toEqual({ contents: text!.indexOf(left[0]!) - 2 });
  });

  test('are an index with leader dots in two columns, to its last page', async () => {
    const terms = Array.from(
      { length: 40 },
      (_, place) => `${String.fromCodePoint(97 + (place >> 1))}x${place} . . . . . . . . . . ${(place * 17) % 50}`,
    );
    const first = [...column(60, 700, terms.slice(0, 18)), ...column(320, 700, terms.slice(18, 36))];
    const document = await load([column(60, 700, left), first, column(60, 700, terms.slice(36))]);
    expect(Object.keys(document.skippedText)).toEqual(['index']);
    expect((await document.chunk()).map(({ metadata }) => metadata.page)).toEqual([1]);
  });

  test('are not prices behind dots', async () => {
    const prices = ['Tea', 'Apple juice', 'Milk', 'Coffee', 'Water', 'Bread', 'Cake', 'Soup', 'Rice', 'Beans'];
    const lines = prices.map((name, place) => `${name} . . . . . . . . . . . ${(place * 13) % 17}`);
    expect((await load([column(60, 700, lines)])).skippedText).toEqual({});
  });
});
