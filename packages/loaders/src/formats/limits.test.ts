import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { strToU8 } from 'fflate';
import { beforeAll, describe, expect, test } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { loadDocuments } from '../files/load-documents.js';
import type { SkippedFile } from './document-loader.js';
import { loadDocument, type LoadDocumentOptions } from '../load-document.js';
import { docx, epub, openDocument, relations, spreadsheet, zip } from './archives.fixture.js';
import { scan, writePdf } from './pdf/pdf-document.fixture.js';

/** @param notes - content of the notes that every slide refers to */
function pptx(slide: string, slides = 1, notes = '<p:notes></p:notes>'): Uint8Array {
  const numbers = Array.from({ length: slides }, (_, index) => index + 1);
  const files: Record<string, string> = {
    'ppt/presentation.xml': `<p:presentation>${numbers.map((number) => `<p:sldId r:id="r${number}"/>`).join('')}</p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      ...numbers.map((number) => ['slide', `slides/slide${number}.xml`] as const),
    ),
    'ppt/notesSlides/notes.xml': notes,
  };
  for (const number of numbers) {
    files[`ppt/slides/slide${number}.xml`] = `<p:sld>${slide}</p:sld>`;
    files[`ppt/slides/_rels/slide${number}.xml.rels`] = relations(['notesSlide', '../notesSlides/notes.xml']);
  }
  return zip(files);
}

/** @param sheet - path of the only sheet */
const xlsx = (rows: string, sharedStrings = '', sheet = 'worksheets/sheet1.xml'): Uint8Array =>
  spreadsheet({ [sheet]: rows }, { styles: '', sharedStrings });

const word = docx('<w:p><w:r><w:t>word</w:t></w:r></w:p>');
const nested = (count: number): string => `${'<x>'.repeat(count)}word${'</x>'.repeat(count)}`;
const drawn = 'BT /F1 12 Tf (x) Tj ET\n'.repeat(100_000);
const words = Array.from(
  { length: 20_000 },
  (_, index) => `BT /F1 2 Tf ${(index % 100) * 6} ${index / 25} Td (word) Tj ET\n`,
);
const pdf = (pages: number): Uint8Array => writePdf(Array.from({ length: pages }, () => drawn));
const eml = (emails: number): Uint8Array =>
  strToU8(`${'From: a@x.y\r\nContent-Type: message/rfc822\r\n\r\n'.repeat(emails)}Subject: x\r\n\r\nbody`);
const table = (columns: number, rows: number): Uint8Array =>
  strToU8(`${Array.from({ length: columns }, () => 'a').join()}\n`.repeat(rows));
const notebook = (cells: number): Uint8Array =>
  strToU8(
    JSON.stringify({ cells: Array.from({ length: cells }, () => ({ cell_type: 'markdown', source: '# A\n\nword' })) }),
  );

interface Loaded {
  /** Turns of the event loop while the file was loaded. There are none while the thread of the caller reads it. */
  readonly turns: number;
  readonly texts: string[];
  readonly error: unknown;
}

async function load(bytes: Uint8Array, name: string, options: LoadDocumentOptions = {}): Promise<Loaded> {
  let turns = 0;
  let isLoading = true;
  const count = (): void => {
    turns += 1;
    if (isLoading) setImmediate(count);
  };
  setImmediate(count);
  const { texts, error } = await loadDocument(bytes, { name, ...options }).then(
    (documents) => ({ texts: documents.flatMap((document) => document.getText()), error: undefined }),
    (error: unknown) => ({ texts: [], error }),
  );
  isLoading = false;
  return { turns, texts, error };
}

const exceeded = (limit: string): unknown =>
  expect.objectContaining({
    code: 'DOCUMENT_LIMIT_EXCEEDED',
    message: expect.stringMatching(/ exceeds a limit: .+\. \S.+\.$/),
    details: expect.objectContaining({ limit, max: expect.any(Number) }),
  });

type Case = [title: string, limit: string, name: string, bytes: () => Uint8Array, options?: LoadDocumentOptions];

// The first import of a module waits for the file system, which are turns of the event loop as well.
beforeAll(() => load(word, 'a.docx'));

describe('a file is rejected for its structure:', () => {
  const small = { maxFileSize: 10_000 };
  const rows = Array.from({ length: 100 }, (_, index) => `<row><c r="A${index + 1}" t="s"><v>0</v></c></row>`);
  const paragraph = '<o:p>word</o:p>';
  const row = `<o:table-row>${`<o:table-cell number-columns-repeated="50">${paragraph}</o:table-cell>`.repeat(300)}<o:table-cell>${paragraph}</o:table-cell></o:table-row>`;

  test.each<Case>([
    ['a row far below', 'rows', 'a.xlsx', () => xlsx('<row r="9999999"><c r="A9999999"><v>2</v></c></row>')],
    ['a row number with an exponent', 'rows', 'a.xlsx', () => xlsx('<row r="1e7"><c><v>2</v></c></row>')],
    [
      'a row in another folder',
      'rows',
      'a.xlsx',
      () => xlsx('<row r="9999999"><c r="A9999999"/></row>', '', 'x/y.xml'),
    ],
    ['a column far to the right', 'columns', 'a.xlsx', () => xlsx('<row r="1"><c r="ZZZZZ1"><v>2</v></c></row>')],
    ['a column behind a bracket', 'columns', 'a.xlsx', () => xlsx(`<row r="1"><c t=">" x:r = 'ZZZZZ1'/></row>`)],
    ['a column of other letters', 'columns', 'a.xlsx', () => xlsx('<row r="1"><c r="^^^^1"><v>2</v></c></row>')],
    ['the last cell of a row', 'cells', 'a.xlsx', () => xlsx('<row r="9000"><c r="XFD9000"><v>2</v></c></row>')],
    [
      'a long text in many cells',
      'characters',
      'a.xlsx',
      () => xlsx(rows.join(''), `<si><t>${'x'.repeat(5000)}</t></si>`),
      small,
    ],
    ['repeated cells', 'characters', 'a.odt', () => openDocument(`<o:table>${row.repeat(2)}</o:table>`), small],
    ['nested elements', 'nesting', 'a.pptx', () => pptx(nested(20_000))],
    ['nested elements', 'nesting', 'a.odt', () => openDocument(nested(20_000))],
    ['emails in emails', 'emails', 'a.eml', () => eml(8000)],
  ])('%s (%s, %s)', async (_, limit, name, bytes, options) => {
    expect((await load(bytes(), name, options)).error).toEqual(exceeded(limit));
  });

  test('nested elements of a chapter', async () => {
    expect((await load(epub([nested(20_000)]), 'a.epub')).error).toMatchObject({ code: 'HTML_TOO_DEEP' });
  });

  test.each([
    ['a.docx', () => docx(' '.repeat(2_000_000))],
    ['a.epub', () => epub([`<p>${' '.repeat(2_000_000)}</p>`])],
  ])('an archive that unpacks to too much (%s)', async (name, bytes) => {
    const { error } = await load(bytes(), name, { maxFileSize: 100_000 });
    expect(error).toMatchObject({ code: 'DOCUMENT_TOO_LARGE' });
  });

  test('text that looks like a far reference is a value', async () => {
    const text = '<row r="1"><c r="A1" t="inlineStr"><is><t>r="ZZZZZ1" &lt;c r="A9999999"></t></is></c></row>';
    expect((await load(xlsx(text), 'a.xlsx')).texts.join()).toContain('r="ZZZZZ1"');
  });

  test('a workbook whose rows have a style, a height and more attributes is read', async () => {
    const attributes = 'spans="1:20" s="1" customFormat="1" ht="24" customHeight="1" x14ac:dyDescent="0.25"';
    const cell = '<c r="A1" t="inlineStr"><is><t>Name</t></is></c>';
    const { texts } = await load(xlsx(`<row r="1" ${attributes} ${'a'.repeat(40)}r="">${cell}</row>`), 'a.xlsx');
    expect(texts.join()).toContain('Name');
  });
});

describe('the event loop runs while a file takes long:', () => {
  test.each<Case>([
    ['a million paragraphs', 'elements', 'a.docx', () => docx('<w:p/>'.repeat(1_000_001))],
    ['emails in emails', 'time', 'a.eml', () => eml(900), { timeout: 20 }],
    ['pages that share a long stream', 'time', 'a.pdf', () => pdf(50), { timeout: 200 }],
    [
      'pages of many words',
      'memory',
      'a.pdf',
      () => writePdf(Array.from({ length: 50 }, () => words.join(''))),
      { maxMemoryMb: 64 },
    ],
    ['a long table', 'time', 'a.csv', () => table(20, 100_000), { timeout: 20 }],
    ['a wide table', 'memory', 'a.csv', () => table(4_000_000, 1), { maxMemoryMb: 64 }],
    ['many chapters', 'time', 'a.epub', () => epub(['<p>word</p>'.repeat(1_000_000)]), { timeout: 20 }],
    ['many slides', 'time', 'a.pptx', () => pptx(`<a:t>${'x'.repeat(100)}</a:t>`.repeat(1000), 100), { timeout: 20 }],
    ['many records', 'texts', 'a.jsonl', () => strToU8('1\n'.repeat(1_048_577))],
    ['many cells', 'time', 'a.ipynb', () => strToU8(`{"cells":[${'{},'.repeat(3_000_000)}{}]}`), { timeout: 20 }],
  ])('%s (%s, %s)', async (_, limit, name, bytes, options) => {
    const { turns, error } = await load(bytes(), name, options);
    expect(error).toEqual(exceeded(limit));
    expect(turns).toBeGreaterThan(0);
  });

  test('a large notebook is loaded', async () => {
    const { turns, texts } = await load(notebook(50_000), 'a.ipynb');
    expect(texts).toHaveLength(50_000);
    expect(turns).toBeGreaterThan(0);
  });
});

describe('a file that repeats a part is read once', () => {
  test('notes of many slides', async () => {
    const notes = `<p:notes><p:sp><p:txBody><a:p><a:r><a:t>${'note '.repeat(20_000)}</a:t></a:r></a:p></p:txBody></p:sp></p:notes>`;
    const slide = '<p:sp><p:txBody><a:p><a:r><a:t>slide</a:t></a:r></a:p></p:txBody></p:sp>';
    const { texts } = await load(pptx(slide, 500, notes), 'a.pptx');
    expect(texts).toHaveLength(500);
    expect(texts.filter((text) => text.includes('note'))).toHaveLength(1);
  });

  test('chapters', async () => {
    const { texts } = await load(
      epub(
        Array.from({ length: 2000 }, (_, index) => `<p>${index}</p>`),
        20,
      ),
      'a.epub',
    );
    expect(texts).toEqual(Array.from({ length: 2000 }, (_, index) => String(index)));
  });
});

describe('the thread that reads files', () => {
  test('is replaced after a limit, and other files are read meanwhile', async () => {
    const [bomb, ...others] = await Promise.all([
      load(pdf(50), 'a.pdf', { timeout: 200 }),
      ...Array.from({ length: 3 }, () => load(word, 'a.docx')),
    ]);
    expect(bomb.error).toEqual(exceeded('time'));
    expect(others.map(({ texts }) => texts)).toEqual([['word'], ['word'], ['word']]);
    expect((await load(word, 'a.docx')).texts).toEqual(['word']);
  });

  test('is ended by the signal, also while a file waits for its turn', async () => {
    const controller = new AbortController();
    const bytes = pdf(50);
    const options = { signal: controller.signal, timeout: 100_000 };
    const running = Array.from({ length: 4 }, (_, index) => load(bytes, `${index}.pdf`, options));
    await load(docx(''), 'waits.docx', { signal: AbortSignal.abort('early') });
    controller.abort(new Error('stop'));
    for (const { error } of await Promise.all(running)) expect(error).toEqual(new Error('stop'));
    expect((await load(word, 'a.docx')).texts).toEqual(['word']);
  });

  test('does not keep the process running while it is idle', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => /worker|message/i.test(name));
    await load(word, 'a.docx');
    const after = process.getActiveResourcesInfo().filter((name) => /worker|message/i.test(name));
    expect(after).toEqual(before);
  });

  test('leaves the bytes of the caller unchanged', async () => {
    const bytes = word.slice();
    const copy = bytes.slice();
    const whole = new Uint8Array(copy.length + 10);
    whole.set(copy, 5);
    await load(bytes, 'a.docx');
    expect(bytes).toEqual(copy);
    expect((await load(whole.subarray(5, copy.length + 5), 'a.docx')).texts).toEqual(['word']);
    await loadDocument(copy.buffer, { name: 'a.docx' });
    expect(copy).toEqual(bytes);
  });

  test('stops when a function of the caller throws', async () => {
    const failure = new Error('from onSkip');
    const onSkip = (): never => {
      throw failure;
    };
    expect((await load(writePdf([scan]), 'a.pdf', { onSkip })).error).toBe(failure);
    expect((await load(word, 'a.docx')).texts).toEqual(['word']);
  });

  test.each(['timeout', 'maxMemoryMb'])('has no invalid %s', async (option) => {
    const invalid = { code: 'OPTIONS_INVALID', message: expect.stringContaining(option) as string };
    expect(await load(docx(''), 'a.docx', { [option]: 0 })).toMatchObject({ error: invalid });
    await expect(loadDocuments('.', { [option]: Number.NaN }).next()).rejects.toMatchObject(invalid);
  });

  test('passes errors on with their code, details and cause', async () => {
    const { error } = await load(strToU8('no pdf'), 'a.pdf');
    expect(error).toMatchObject({
      name: 'QuiverError',
      code: 'DOCUMENT_UNREADABLE',
      details: { name: 'a.pdf' },
      cause: { message: expect.stringContaining('PDFium') },
    });
    expect(error).toBeInstanceOf(Error);
  });
});

test('a folder with a hostile file is loaded without it', async () => {
  const folder = await newFolder();
  const files = {
    '1.docx': word,
    '2.csv': strToU8('a,b\n1,2'),
    '3.eml': eml(8000),
    '4.docx': word,
    '5.md': strToU8('# A'),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const skipped: SkippedFile[] = [];
  const sources: unknown[] = [];
  const options = { onSkip: (file: SkippedFile) => void skipped.push(file) };
  for await (const { sources: texts } of loadDocuments(folder, options)) sources.push(texts[0]?.metadata['source']);
  expect(sources).toEqual(['1.docx', '2.csv', '4.docx', '5.md']);
  expect(skipped).toEqual([{ path: '3.eml', reason: 'limit exceeded', error: exceeded('emails') }]);
});
