import { expect, test } from 'vitest';
import { createLexicalEmbedder, createVectorQueryTool, ingest } from '@quiver/rag';
import { descriptionKeys, partKeys } from '@quiver/rag/document';
import { LocalVector } from '@quiver/rag/local';
import { epub, openDocument, presentation, spreadsheet, wordTable } from './archives.fixture.js';
import { formats } from './document-formats.js';
import { loadDocument } from '../load-document.js';
import { writePdf } from './pdf/pdf-document.fixture.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const both = (write: (part: 1 | 2) => string): string => write(1) + write(2);

/** Files with several parts, by the first extension of their format. */
const files: Readonly<Record<string, () => Uint8Array>> = {
  jsonl: () => bytesOf('{"a":1}\n{"a":2}'),
  csv: () => bytesOf('a,b\n1,2\n3,4'),
  pptx: () =>
    presentation(
      ['One', 'Two'].map(
        (text) =>
          `<p:sld><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
      ),
    ),
  xlsx: () => {
    const rows = `${both((row) => `<row r="${row}"><c r="A${row}"><v>1</v></c><c r="B${row}"><v>2</v></c></row>`)}<row r="3"><c r="A3"><v>3</v></c></row>`;
    return spreadsheet({ 'worksheets/sheet1.xml': rows, 'worksheets/sheet2.xml': rows });
  },
  epub: () => epub(['One.', 'Two.'].map((text) => `<html><body><p>${text}</p></body></html>`)),
  eml: () =>
    bytesOf(
      `From: a@x.y\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee.\r\n${both((part) => `--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename="${part}.csv"\r\n\r\na,b\n1,2\n3,4\r\n`)}--b--`,
    ),
  ipynb: () =>
    bytesOf(
      JSON.stringify({
        cells: ['# A', '# B'].map((source) => ({ cell_type: 'markdown', source: `${source}\n\nText.` })),
      }),
    ),
  srt: () => bytesOf('00:00:01,500 --> 00:00:02,000\nOne.\n\n00:00:03,500 --> 00:00:04,000\nTwo.'),
};

/** Formats whose files are one text, and neither text nor code. */
const single: Readonly<Record<string, () => Uint8Array>> = {
  pdf: () => writePdf([[{ text: 'One', x: 50, y: 700 }], [{ text: 'Two', x: 50, y: 700 }]]),
  docx: wordTable,
  odt: () => openDocument('<text:p>One.</text:p>'),
};

test.each(formats.map(({ extensions }) => extensions.split(' ')[0] as string))(
  'tells the parts of a file apart by keys of the shared list: %s',
  async (extension) => {
    const bytes = (files[extension] ?? single[extension])?.() ?? bytesOf('One.\n\nTwo.\n\nThree.');
    const documents = await loadDocument(bytes, { name: `file.${extension}`, groupSize: 1 });
    const metadata = documents.flatMap((document) => document.getMetadata());
    const parts = metadata.map((one) => JSON.stringify(partKeys.map((key) => one[key])));
    expect(new Set(parts).size).toBe(parts.length);
    if (extension in files) expect(parts.length).toBeGreaterThan(1);
    else expect(parts).toHaveLength(1);
    const known = new Set<string>([...partKeys, ...descriptionKeys]);
    expect(metadata.flatMap((one) => Object.keys(one).filter((key) => !known.has(key)))).toEqual([]);
  },
);

test('a file and its copy in a mail are one result, with both places', async () => {
  const csv = bytesOf('item,price\nTier 2 storage,40 francs');
  const mail = bytesOf(
    `From: a@x.y\r\nSubject: Offer\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee the offer.\r\n--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename="prices.csv"\r\n\r\n${new TextDecoder().decode(csv)}\r\n--b--`,
  );
  const documents = [
    ...(await loadDocument(csv, { name: 'prices.csv' })),
    ...(await loadDocument(mail, { name: 'offer.eml' })),
  ];
  const store = new LocalVector();
  const model = createLexicalEmbedder();
  await ingest({ documents, vectorStore: store, indexName: 'offers', model });
  const search = createVectorQueryTool({ vectorStore: store, indexName: 'offers', model, mode: 'keyword' });
  const { sources } = await search.execute({ queryText: 'tier 2 storage' }, { onFailure: 'throw' });
  const places = sources.map(({ metadata }) => [
    metadata,
    ...((metadata['alsoIn'] ?? []) as Record<string, unknown>[]),
  ]);
  expect(places).toHaveLength(1);
  expect(places[0]?.map(({ source, attachment }) => [source, attachment])).toEqual(
    expect.arrayContaining([
      ['prices.csv', undefined],
      ['offer.eml', 'prices.csv'],
    ]),
  );
});
