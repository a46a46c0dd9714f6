import { describe, expect, test } from 'vitest';
import { spreadsheet } from './archives.fixture.js';
import { groupRows } from './group-rows.js';
import { loadDocument } from '../load-document.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('groupRows', () => {
  test('repeats the header in every group, and names the rows', () => {
    const rows = [['id', 'name'], ...Array.from({ length: 5 }, (_, index) => [String(index), `name ${index}`])];
    expect(groupRows(rows, 60)).toEqual([
      { text: '| id | name |\n| --- | --- |\n| 0 | name 0 |\n| 1 | name 1 |', metadata: { row: 1, endRow: 3 } },
      { text: '| id | name |\n| --- | --- |\n| 2 | name 2 |\n| 3 | name 3 |', metadata: { row: 4, endRow: 5 } },
      { text: '| id | name |\n| --- | --- |\n| 4 | name 4 |', metadata: { row: 6, endRow: 6 } },
    ]);
  });

  test('finds the header below a title, and leaves out empty rows', () => {
    const rows = [['', ''], ['Prices 2026', ''], [], ['Part', 'Price'], ['', ' '], ['Bolt', 'a|b\nc']];
    expect(groupRows(rows, 1000)).toEqual([
      {
        text: 'Prices 2026\n\n| Part | Price |\n| --- | --- |\n| Bolt | a\\|b c |',
        metadata: { row: 2, endRow: 6 },
      },
    ]);
  });

  test('reads one column, only a header, and nothing', () => {
    expect(groupRows([['city'], ['Bonn']], 1000)[0]?.text).toBe('| city |\n| --- |\n| Bonn |');
    expect(groupRows([['a', 'b']], 1000)[0]).toEqual({
      text: '| a | b |\n| --- | --- |',
      metadata: { row: 1, endRow: 1 },
    });
    expect(groupRows([[''], []], 1000)).toEqual([]);
  });

  test('writes a row that is longer than a group as a line per value', () => {
    const long = 'word '.repeat(30).trim();
    const rows = [['Survey 2026'], ['id', 'answer', ''], ['1', long, 'no name'], ['2', 'short'], ['3', long]];
    expect(groupRows(rows, 60)).toEqual([
      { text: `Survey 2026\n\nid: 1\nanswer: ${long}\nno name`, metadata: { row: 1, endRow: 3 } },
      { text: '| id | answer |\n| --- | --- |\n| 2 | short |', metadata: { row: 4, endRow: 4 } },
      { text: `id: 3\nanswer: ${long}`, metadata: { row: 5, endRow: 5 } },
    ]);
  });

  test('joins the rows of a header that names groups of columns', () => {
    const rows = [
      ['', '2025', '', '2026', ''],
      ['Region', 'Sales', 'Costs', 'Sales', 'Costs'],
      ['North', '1', '2', '3', '4'],
    ];
    expect(groupRows(rows, 1000)).toEqual([
      {
        text: '| Region | 2025 Sales | 2025 Costs | 2026 Sales | 2026 Costs |\n| --- | --- | --- | --- | --- |\n| North | 1 | 2 | 3 | 4 |',
        metadata: { row: 1, endRow: 3 },
      },
    ]);
    const plain = [
      ['id', '', 'name'],
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ];
    expect(groupRows(plain, 1000)[0]?.text).toContain('| a | b | c |');
  });

  test('does not repeat a header that is much longer than the rows for each of them', () => {
    const header = ['x'.repeat(10_000), 'y'];
    const docs = groupRows([header, ...Array.from({ length: 10_000 }, () => ['1', '2'])], 100);
    expect(docs.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(1_000_000);
  });
});

describe('CSV and TSV', () => {
  test.each([
    ['a.csv', 'name,city\n"Doe, Ann",Bonn\n'],
    ['a.csv', 'name;city\r\n"Doe, Ann";Bonn\r\n'],
    ['a.tsv', 'name\tcity\n"Doe, Ann"\tBonn'],
    ['a.csv', 'name|city\n"Doe, Ann"|Bonn'],
    ['a.csv', '\ufeffname,city\n"Doe, Ann",Bonn'],
  ])('detects the delimiter of %s: %j', async (name, text) => {
    const [document] = await loadDocument(bytesOf(text), { name });
    expect(document!.getDocs()).toEqual([
      { text: '| name | city |\n| --- | --- |\n| Doe, Ann | Bonn |', metadata: { source: name, row: 1, endRow: 2 } },
    ]);
  });

  test('reads quotes that are not closed, and rows of any length', async () => {
    const [document] = await loadDocument(bytesOf('a,b\n"open,1\n2\n3,4,5\n'), { name: 'x.csv' });
    expect(document!.getText().join()).toBe('| a | b |\n| --- | --- |\n| "open | 1 |\n| 2 |\n| 3 | 4 | 5 |');
  });

  test('reads more rows than a spreadsheet has as text', async () => {
    const text = '1,2\n'.repeat(1_048_577);
    const [document] = await loadDocument(bytesOf(text), { name: 'x.csv' });
    expect(document!.getText()[0]?.length).toBe(text.length);
  });

  test('gives each chunk its rows', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `${index},${'word '.repeat(10)}`);
    const [document] = await loadDocument(bytesOf(`id,text\n${lines.join('\n')}`), { name: 'x.csv', groupSize: 400 });
    const chunks = await document!.chunk({ maxSize: 400 });
    expect(chunks.every(({ text }) => text.startsWith('| id | text |') && text.length <= 400)).toBe(true);
    expect(chunks[1]?.metadata).toMatchObject({ source: 'x.csv', row: Number(chunks[0]?.metadata['endRow']) + 1 });
    expect(chunks.at(-1)?.metadata['endRow']).toBe(101);
  });
});

describe('XLSX', () => {
  const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
  const workbook = (rows: string): Uint8Array =>
    spreadsheet({ 'worksheets/sheet1.xml': rows }, { styles, sharedStrings: '' });
  const cell = (place: string, text: string): string => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`;

  test('reads numbers, dates, booleans and text with their sheet and rows', async () => {
    const bytes = workbook(
      `<row r="3">${cell('B3', 'Part')}${cell('C3', 'Price')}${cell('D3', 'From')}${cell('E3', 'Sold')}</row><row r="5">${cell('B5', 'Bolt')}<c r="C5"><v>0.30000000000000004</v></c><c r="D5" s="1"><v>46024</v></c><c r="E5" t="b"><v>1</v></c></row>`,
    );
    const [document] = await loadDocument(bytes, { name: 'costs.xlsx' });
    expect(document!.getDocs()).toEqual([
      {
        text: '|  | Part | Price | From | Sold |\n| --- | --- | --- | --- | --- |\n|  | Bolt | 0.3 | 2026-01-02 | true |',
        metadata: { source: 'costs.xlsx', sheet: 'S1', row: 3, endRow: 5 },
      },
    ]);
  });

  test.each([
    `<row r="1">${cell('A1', 'x')}</row><row r="1048576">${cell('XFD1048576', 'y')}</row>`,
    `<row r="1">${cell('A1', 'x')}</row><row r="1048576"><c r="&#88;FD1048576"><v>1</v></c></row>`,
  ])('reports a cell that would make the sheet huge: %#', async (sheetData) => {
    await expect(loadDocument(workbook(sheetData), { name: 'x.xlsx' })).rejects.toMatchObject({
      code: expect.stringMatching(/^DOCUMENT_(?:LIMIT_EXCEEDED|UNREADABLE)$/),
    });
  });
});
