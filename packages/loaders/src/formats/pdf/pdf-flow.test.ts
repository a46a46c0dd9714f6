import { LocalVector } from '@quiver/rag/local';
import { createLexicalEmbedder, ingest } from '@quiver/rag';
import { describe, expect, test } from 'vitest';
import { load, read } from '../../load-pdf.fixture.js';
import { column, left, right, type PlacedText } from './pdf-document.fixture.js';

const header = { text: 'The manual of the store', x: 200, y: 785 };
const pageNumber = (page: number): PlacedText => ({ text: String(page), x: 300, y: 20 });

/** Adds a header and a page number to each page. */
const withMargins = (pages: readonly (readonly PlacedText[])[]): PlacedText[][] =>
  pages.map((page, index) => [header, ...page, pageNumber(index + 1)]);

/** A page with text that ends before it. */
const other: PlacedText[] = column(60, 740, right);

const sentence = [
  'A store that is opened twice reports the second process, and it keeps',
  'the lock until the first one has ended. The lock is a file, whose date',
  'shows that its process still runs; it is written every second by the pro-',
];
const rest = ['cess that has it, and a file that is older than a minute is removed by', 'the next one.'];

describe('a paragraph', () => {
  test('continues behind the end of a page, without header and page number in it', async () => {
    const pages = withMargins([
      column(60, 100, sentence),
      [...column(60, 740, rest), ...column(60, 600, right)],
      other,
    ]);
    const document = await load(pages);
    const paragraph = [...sentence, ...rest].join(' ').replace('pro- cess', 'process');
    expect(document.getText()[0]!.split('\n\n')).toEqual([
      paragraph,
      right.join(' '),
      right.join(' '),
      'The manual of the store',
    ]);
    const [chunk] = await document.chunk({ maxSize: 400, overlap: 0 });
    expect(chunk).toMatchObject({ text: paragraph, metadata: { page: 1, endPage: 2, startIndex: 0 } });
    // The rectangle is on the page on which the chunk begins.
    expect(chunk?.metadata.box?.[1]).toBe(690);
    const small = await document.chunk({ maxSize: 100, overlap: 0 });
    const places = small.map(({ metadata: { page, endPage } }) => [page, endPage]);
    expect(places.slice(0, 5)).toEqual([
      [1, undefined],
      [1, undefined],
      [1, 2],
      [2, undefined],
      [2, undefined],
    ]);
  });

  test('continues behind notes at the end of a page, and pictures at the start of the next', async () => {
    const note = { text: '1 See the chapter about locks.', x: 60, y: 50, size: 7 };
    const caption = { text: 'Figure 3: Two processes and their lock', x: 60, y: 760 };
    const pages = [
      [...column(60, 100, sentence), note],
      [caption, ...column(60, 700, rest)],
    ];
    const [text] = await read(pages);
    expect(text).toMatch(/every second by the process that has it, .* the next one\.\n\n1 See .*\n\nFigure 3/);
  });

  test.each<[string, readonly string[], readonly string[]]>([
    [
      'a sentence that ends',
      [...sentence.slice(0, 2), 'is written to the disk.'],
      ['and this is another one, in small letters, of a list', 'or so.'],
    ],
    ['a short last line', [sentence[0]!, 'and more'], ['this is a term', 'or so, it is not clear.']],
    ['an item of a list', sentence.slice(0, 2), ['- item of a list that begins here, and which goes on', 'for long.']],
    ['a heading in between', sentence.slice(0, 2), ['Conclusion']],
  ])('does not continue behind %s', async (_what, last, next) => {
    const [text] = await read([
      [...column(60, 700, left), ...column(60, 100, last)],
      [...column(60, 740, next), ...column(60, 600, right)],
    ]);
    expect(text).toContain(`\n\n${next[0]}`);
  });
});

describe('a table', () => {
  const row = (cells: readonly string[], y: number, shift = 0): PlacedText[] =>
    cells.map((text, cell) => ({ text, x: 60 + shift + [0, 120, 300][cell]!, y }));
  const title = ['Country', 'Capital', 'Inhabitants'];
  const first = [title, ['Norway', 'Oslo', '5 500 000'], ['Portugal', 'Lisbon', '10 300 000']];
  const written = [
    '| Country | Capital | Inhabitants |',
    '| --- | --- | --- |',
    '| Norway | Oslo | 5 500 000 |',
    '| Portugal | Lisbon | 10 300 000 |',
  ];
  const page = first.flatMap((cells, index) => row(cells, 100 - 14 * index));

  test.each<[string, PlacedText[]]>([
    ['one row', row(['Peru', 'Lima', '34 000 000'], 740, 30)],
    [
      'its header again',
      [title, ['Peru', 'Lima', '34 000 000']].flatMap((cells, index) => row(cells, 740 - 14 * index)),
    ],
  ])('continues on the next page with %s', async (_what, next) => {
    const document = await load(withMargins([page, [...next, ...column(60, 600, right)], other]));
    const [text] = document.getText();
    expect(text).toContain([...written, '| Peru | Lima | 34 000 000 |', '', right.join(' ')].join('\n'));
    const chunks = await document.chunk({ maxSize: 60, overlap: 0 });
    expect(chunks.find((chunk) => chunk.text.includes('Peru'))?.metadata.page).toBe(2);
  });

  test('does not continue with another number of columns', async () => {
    const next = [
      ['Ada', 'London'],
      ['Emmy', 'Erlangen'],
      ['Sofia', 'Moscow'],
    ];
    const [text] = await read([page, next.flatMap((cells, index) => row(cells, 740 - 14 * index))]);
    expect(text).toBe(
      [...written, '', '| Ada | London |', '| --- | --- |', '| Emmy | Erlangen |', '| Sofia | Moscow |'].join('\n'),
    );
  });
});

test('a listing continues on the next page', async () => {
  const code = (lines: readonly string[], y: number): PlacedText[] =>
    column(60, y, lines).map((line) => ({ ...line, font: 'Courier' }));
  const [text] = await read([
    code(['open();', 'read();'], 60),
    [...code(['close();'], 740), ...column(60, 600, right)],
  ]);
  expect(text).toBe(`\`\`\`\nopen();\nread();\nclose();\n\`\`\`\n\n${right.join(' ')}`);
});

describe('on the next page', () => {
  const heading = (text: string, y: number): PlacedText => ({ text, x: 60, y, size: 16 });

  test('text is below the headings of the pages before', async () => {
    const pages = [
      [heading('Storage', 740), ...column(60, 700, left)],
      column(60, 740, right),
      [...column(60, 740, left), heading('Limits', 600), ...column(60, 560, right)],
    ];
    const chunks = await (await load(pages)).chunk({ maxSize: 250, overlap: 0 });
    expect(chunks.map(({ metadata: { page, headings } }) => [page, headings])).toEqual([
      [1, ['Storage']],
      [2, ['Storage']],
      [3, ['Storage']],
      [3, ['Limits']],
    ]);
  });

  test('a definition stays with its term, and a description with its option', async () => {
    const definition = ['Number of commands that the history has. Default: five', 'hundred, and zero turns it off.'];
    const pages = withMargins([
      [...column(60, 700, left), { text: 'HISTSIZE', x: 60, y: 60 }],
      [...column(96, 740, definition), { text: '--version', x: 60, y: 712 }],
      [
        ...column(96, 740, ['Prints the version of the program, and ends it with', 'success.']),
        ...column(60, 600, right),
      ],
    ]);
    const chunks = await (await load(pages)).chunk({ maxSize: 120, minSize: 0, overlap: 0 });
    expect(chunks.map(({ text }) => text)).toEqual(
      expect.arrayContaining([
        `HISTSIZE\n\n${definition.join(' ')}`,
        '--version\n\nPrints the version of the program, and ends it with success.',
      ]),
    );
  });
});

test('options with their descriptions next to them are paragraphs', async () => {
  const option = (name: string, lines: readonly string[], y: number): PlacedText[] => [
    { text: name, x: 60, y },
    ...column(110, y, lines),
  ];
  const lines = ['Prints the name of each file that is read, with its', 'size and the time that it took.'];
  const page = [...option('-v', lines, 700), ...option('-q', ['Prints nothing.'], 676), ...option('-x', lines, 664)];
  expect(await read([[...column(60, 780, sentence.slice(0, 2)), ...page]])).toEqual([
    [sentence.slice(0, 2).join(' '), `-v ${lines.join(' ')}`, '-q Prints nothing.', `-x ${lines.join(' ')}`].join(
      '\n\n',
    ),
  ]);
});

test('a page in front moves the chunks of the others, which are not embedded again', async () => {
  const pages = [1, 2, 3].map((number) => [
    { text: `Chapter ${number}`, x: 60, y: 740, size: 16 },
    ...column(60, 700, [
      `The text of chapter ${number} has enough words to be a chunk of its own, `,
      ...left,
      ...right,
    ]),
  ]);
  const front = [{ text: 'Preface', x: 60, y: 740, size: 16 }, ...column(60, 700, left)];
  await using vectorStore = new LocalVector();
  const embedder = createLexicalEmbedder();
  const run = async (given: PlacedText[][]) =>
    ingest({ documents: [await load(given)], vectorStore, indexName: 'manual', embedder });
  expect(await run(pages)).toMatchObject({ added: 3 });
  expect(await run([front, ...pages])).toMatchObject({ added: 1, moved: 3, removed: 0 });
  const { records } = await vectorStore.scan({ indexName: 'manual' });
  const places = records.map(({ metadata }) => `${String(metadata['headings'])} ${String(metadata['page'])}`);
  expect(places.toSorted()).toEqual(['Chapter 1 2', 'Chapter 2 3', 'Chapter 3 4', 'Preface 1']);
});
