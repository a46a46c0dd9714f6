import { describe, expect, test } from 'vitest';
import type { MDocument } from '@quiver/rag/document';
import type { SkippedFile } from './formats/document-loader.js';
import { loadDocument, type LoadDocumentOptions } from './load-document.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const docsOf = (documents: MDocument[]): unknown[] => documents.flatMap((document) => document.getDocs());

describe('loadDocument', () => {
  test('takes bytes, an ArrayBuffer, a Blob and a File', async () => {
    const bytes = bytesOf('# A');
    const copy: ArrayBuffer = bytes.slice().buffer;
    const expected = [{ text: '# A', metadata: { source: 'a.md' } }];
    for (const content of [bytes, copy, new Blob(['# A'])])
      expect(docsOf(await loadDocument(content, { name: 'a.md' }))).toEqual(expected);
    expect(docsOf(await loadDocument(new File(['# A'], 'a.md')))).toEqual(expected);
  });

  test('lets a known media type decide before the extension', async () => {
    const load = async (options: LoadDocumentOptions): Promise<unknown> =>
      (await loadDocument(bytesOf('{"a":1}'), options))[0]?.type;
    expect(await load({ name: 'https://x.y/list.php?a=b.csv', mediaType: 'application/json; charset=utf-8' })).toBe(
      'json',
    );
    expect(await load({ name: 'https://x.y/data.json?v=1.2', mediaType: 'application/octet-stream' })).toBe('json');
    expect(await load({ name: 'notes', mediaType: 'text/plain' })).toBe('text');
  });

  test('adds metadata of the caller', async () => {
    const metadata = { team: 'docs', source: 'https://x.y/a' };
    expect(docsOf(await loadDocument(bytesOf('a'), { name: 'a.txt', metadata }))).toEqual([{ text: 'a', metadata }]);
  });

  test.each([
    [bytesOf('x'), {}, 'OPTIONS_INVALID'],
    [bytesOf('x'), { name: 'x' }, 'DOCUMENT_TYPE_UNKNOWN'],
    [bytesOf('x'), { name: '.docx' }, 'DOCUMENT_TYPE_UNKNOWN'],
    [bytesOf('xx'), { name: 'x.txt', maxFileSize: 1 }, 'DOCUMENT_TOO_LARGE'],
    [bytesOf('x'), { name: 'x.txt', maxFileSize: Number.NaN }, 'OPTIONS_INVALID'],
    [bytesOf('x'), { name: 'x.csv', groupSize: 0 }, 'OPTIONS_INVALID'],
    ['text', { name: 'x.txt' }, 'OPTIONS_INVALID'],
    [null, { name: 'x.txt' }, 'OPTIONS_INVALID'],
    [bytesOf('a\0b'), { name: 'x.txt' }, 'DOCUMENT_BINARY'],
    [bytesOf('a'), { name: 'x.txt', encoding: 'klingon' }, 'DOCUMENT_ENCODING_UNKNOWN'],
    [bytesOf('not json'), { name: 'x.ipynb' }, 'DOCUMENT_UNREADABLE'],
    [bytesOf('{}'), { name: 'x.ipynb' }, 'DOCUMENT_UNREADABLE'],
    [bytesOf('null'), { name: 'x.ipynb' }, 'DOCUMENT_UNREADABLE'],
    [bytesOf('no subtitles'), { name: 'x.srt' }, 'DOCUMENT_UNREADABLE'],
    [bytesOf('no email\n\nat all'), { name: 'x.eml' }, 'DOCUMENT_UNREADABLE'],
    [bytesOf(''), { name: 'x.csv' }, 'DOCUMENT_EMPTY'],
  ])('rejects an invalid file or argument: %#', async (content, options, code) => {
    await expect(loadDocument(content as Uint8Array, options)).rejects.toMatchObject({ code });
  });

  test.each([
    [{ metadata: 'docs' }, /^loadDocument: 'metadata' must be an object, not 'docs'\.$/],
    [null, /^loadDocument needs its options, an object, not null\.$/],
  ])('rejects the options %j', async (options, message) => {
    const loaded = loadDocument(new File(['x'], 'x.txt'), options as never);
    await expect(loaded).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: expect.stringMatching(message),
    });
  });

  test('stops for its signal', async () => {
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(loadDocument(bytesOf('x'), { name: 'x.txt', signal })).rejects.toThrow('stop');
  });
});

describe('encodings', () => {
  const german = 'Größe und Übermut: die schönen Mädchen hören süße Töne über den Dächern.';
  const latin1 = Uint8Array.from(german, (character) => character.charCodeAt(0));

  test('detects Latin-1, and names it in the metadata', async () => {
    expect(docsOf(await loadDocument(latin1, { name: 'a.txt' }))).toEqual([
      { text: german, metadata: { source: 'a.txt', encoding: 'windows-1252' } },
    ]);
  });

  test('detects KOI8-R although most of the file is markup', async () => {
    const text =
      'Съешь же ещё этих мягких французских булок, да выпей чаю. Он пришёл домой поздно вечером и лёг спать.';
    const table = new TextDecoder('koi8-r').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
    const sentence = Uint8Array.from(text, (character) => table.indexOf(character));
    const markup = bytesOf(
      '<item><title language="Russian">the title of this item</title><link>http://example.com/</link></item>'.repeat(
        20,
      ),
    );
    const bytes = new Uint8Array([...markup, ...sentence]);
    const [document] = await loadDocument(bytes, { name: 'a.txt' });
    expect(document!.getDocs()[0]).toMatchObject({
      text: expect.stringContaining(text),
      metadata: { encoding: 'koi8-r' },
    });
  });

  test('reads UTF-16 by its byte order mark, and a given encoding', async () => {
    const utf16 = new Uint8Array([0xff, 0xfe, 0x68, 0, 0x69, 0]);
    const expected = { text: 'hi', metadata: { source: 'a.md', encoding: 'utf-16le' } };
    expect(docsOf(await loadDocument(utf16, { name: 'a.md' }))).toEqual([expected]);
    const greek = new Uint8Array([0xe1, 0xe2, 0xe3]);
    expect(docsOf(await loadDocument(greek, { name: 'a.txt', encoding: 'iso-8859-7' }))).toEqual([
      { text: 'αβγ', metadata: { source: 'a.txt', encoding: 'iso-8859-7' } },
    ]);
  });

  test.each(['Größe und Straße. ', 'Съешь же ещё. ', '快速的棕色狐狸。'])(
    'rejects damaged UTF-8 instead of reading it in another encoding: %s',
    async (text) => {
      const bytes = bytesOf(text.repeat(20));
      for (const damaged of [Uint8Array.from([...bytes, 0xc3]), Uint8Array.from([...bytes, 0xff, ...bytes])])
        await expect(loadDocument(damaged, { name: 'a.txt' })).rejects.toMatchObject({
          code: 'DOCUMENT_ENCODING_UNKNOWN',
        });
    },
  );

  test('reads UTF-16 with control characters, as UTF-8 with them', async () => {
    const text = '\u001b[1mbold\u001b[0m\u001a';
    const utf16 = new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'));
    expect((await loadDocument(utf16, { name: 'a.log' }))[0]?.getText()).toEqual([text]);
    expect((await loadDocument(bytesOf(text), { name: 'a.log' }))[0]?.getText()).toEqual([text]);
  });

  test('rejects bytes that are not text', async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, index) => ((index * 167) % 255) + 1);
    await expect(loadDocument(bytes, { name: 'a.txt' })).rejects.toMatchObject({
      code: expect.stringMatching(/^DOCUMENT_(?:BINARY|ENCODING_UNKNOWN)$/),
    });
  });
});

describe('email', () => {
  const eml = (body: string, headers = ''): Uint8Array =>
    bytesOf(
      `From: Ann <ann@x.y>\r\nTo: b@x.y\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\nDate: Fri, 04 May 2001 14:05:44 -0400\r\n${headers}\r\n${body}`,
    );
  const headers = {
    source: 'm.eml',
    title: 'Grüße',
    subject: 'Grüße',
    from: 'Ann <ann@x.y>',
    to: 'b@x.y',
    date: '2001-05-04T18:05:44.000Z',
  };
  const part = (type: string, body: string): string => `--b\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`;

  test('has its headers as metadata, and the subject in its text', async () => {
    expect(docsOf(await loadDocument(eml('Hello.\r\n'), { name: 'm.eml' }))).toEqual([
      { text: 'Subject: Grüße\n\nHello.', metadata: headers },
    ]);
  });

  test('reads HTML without a text part', async () => {
    const [document] = await loadDocument(eml('<h2>Hi</h2><p>you', 'Content-Type: text/html\r\n'), { name: 'm.eml' });
    expect(document).toMatchObject({ type: 'markdown' });
    expect(document!.getText()).toEqual(['Subject: Grüße\n\n## Hi\n\nyou']);
  });

  test('loads attachments by their own loaders, and reports the others', async () => {
    const body = `${part('text/plain', 'See attached.')}${part('text/csv; name="t.csv"\r\nContent-Disposition: attachment; filename="t.csv"', 'a,b\n1,2')}${part('image/gif; name="p.gif"\r\nContent-Disposition: attachment; filename="p.gif"', 'GIF89')}--b--`;
    const skipped: SkippedFile[] = [];
    const documents = await loadDocument(eml(body, 'Content-Type: multipart/mixed; boundary=b\r\n'), {
      name: 'm.eml',
      onSkip: (file) => skipped.push(file),
    });
    expect(docsOf(documents)).toEqual([
      { text: 'Subject: Grüße\n\nSee attached.', metadata: { ...headers, attachments: ['t.csv', 'p.gif'] } },
      {
        text: '| a | b |\n| --- | --- |\n| 1 | 2 |',
        metadata: { ...headers, attachment: 't.csv', row: 1, endRow: 2 },
      },
    ]);
    expect(skipped).toMatchObject([{ path: 'm.eml#p.gif', reason: 'unknown type' }]);
  });

  test('does not follow emails in emails without end', async () => {
    let body = 'deepest';
    for (let depth = 0; depth < 50; depth += 1) {
      const disposition = `message/rfc822\r\nContent-Disposition: attachment; filename="${depth}.eml"`;
      body = `Subject: ${depth}\r\nContent-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\nContent-Type: ${disposition}\r\n\r\n${body}\r\n--b${depth}--\r\n`;
    }
    const documents = await loadDocument(bytesOf(body), { name: 'm.eml' });
    expect(documents[0]?.getText()[0]).toContain('Subject: 49');
  });
});

describe('notebooks', () => {
  test('are one Markdown document, whose sections name their cells and the headings above', async () => {
    const markdown = (source: string | string[]): object => ({ cell_type: 'markdown', source });
    const code = (source: string, ...outputs: object[]): object => ({ cell_type: 'code', source, outputs });
    const cells = [
      markdown('# Plot'),
      markdown(['## Draw\n', 'Draws.']),
      code('import x\n', { text: ['noise\n'] }, { data: { 'text/plain': '<Figure size 1x1>', 'image/png': 'AAAA' } }),
      code(''),
      markdown('Done.'),
      markdown('## Save'),
      code('save()', { text: 'x'.repeat(1000) }, { ename: 'OSError', evalue: 'disk full' }),
    ];
    const bytes = bytesOf(JSON.stringify({ cells, metadata: { kernelspec: { language: 'python' } } }));
    const documents = await loadDocument(bytes, { name: 'n.ipynb' });
    expect(documents.map(({ type }) => type)).toEqual(['markdown']);
    expect(docsOf(documents)).toEqual([
      {
        text: '# Plot\n\n## Draw\nDraws.\n\n```python\nimport x\n```\n\n```\nnoise\n```\n\nDone.',
        metadata: { source: 'n.ipynb', cell: 1, endCell: 5 },
      },
      {
        text: `## Save\n\n\`\`\`python\nsave()\n\`\`\`\n\n\`\`\`\n${'x'.repeat(400)}…\n\`\`\`\n\n\`\`\`\nOSError: disk full\n\`\`\``,
        metadata: { source: 'n.ipynb', cell: 6, endCell: 7, headings: ['Plot'] },
      },
    ]);
    const chunks = await documents[0]!.chunk({ maxSize: 500 });
    expect(chunks.at(-1)?.metadata.headings).toEqual(['Plot', 'Save']);
  });
});

describe('subtitles', () => {
  test.each([
    [
      'a.srt',
      '1\r\n00:00:01,500 --> 00:00:03,000\r\n<i>Hello</i>\r\nthere.\r\n\r\n2\r\n01:00:04,000 --> 01:00:05,250\r\nBye.\r\n',
    ],
    [
      'a.vtt',
      'WEBVTT\n\nNOTE skip\n\nSTYLE\n::cue {}\n\nid\n00:01.500 --> 00:03.000 align:start\n<c.x>Hello</c>\nthere.\n\n01:00:04.000 --> 01:00:05.250\nBye.',
    ],
  ])('have the time of each group: %s', async (name, text) => {
    expect(docsOf(await loadDocument(bytesOf(text), { name }))).toEqual([
      { text: 'Hello\nthere.\nBye.', metadata: { source: name, time: 1.5, endTime: 3605.25 } },
    ]);
    const groups = await loadDocument(bytesOf(text), { name, groupSize: 5 });
    expect(groups[0]?.getMetadata()).toMatchObject([
      { time: 1.5, endTime: 3 },
      { time: 3604, endTime: 3605.25 },
    ]);
  });

  test('reads spaces in hostile markup in one go', async () => {
    const text = `00:01.000 --> 00:02.000\n<v${' '.repeat(200_000)}x`;
    expect((await loadDocument(bytesOf(text), { name: 'a.vtt' }))[0]?.getText()[0]).toHaveLength(text.length - 24);
  });

  test('keep speakers and decode entities', async () => {
    const text = 'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>A &lt; B &amp; C</v>';
    expect((await loadDocument(bytesOf(text), { name: 'a.vtt' }))[0]?.getText()).toEqual(['Ann: A < B & C']);
  });
});

describe('JSON Lines', () => {
  test('number their records, and report a line that is not JSON', async () => {
    const skipped: SkippedFile[] = [];
    const [document] = await loadDocument(bytesOf('{"a":1}\n\n{"a":\n[2]\r\n'), {
      name: 'a.jsonl',
      onSkip: (file) => skipped.push(file),
    });
    const chunks = await document!.chunk();
    expect(chunks.map(({ text, metadata }) => [text, metadata['record']])).toEqual([
      ['{"a":1}', 1],
      ['[2]', 4],
    ]);
    expect(skipped).toMatchObject([
      { path: 'a.jsonl#3', reason: 'unreadable', error: { code: 'DOCUMENT_UNREADABLE' } },
    ]);
  });

  test.each(['{\n  "a": 1\n}\n', '{\n  "a": 1\n}\n{\n  "b": 2\n}\n', `{"a":1}\n${'not JSON\n'.repeat(1500)}`])(
    'are read as a whole if they are something else: %#',
    async (text) => {
      const [document] = await loadDocument(bytesOf(text), { name: 'a.jsonl' });
      expect(document!.getText()).toEqual([text]);
    },
  );
});

describe('JSON', () => {
  test.each([
    ['{"a": 1}', 'json'],
    ['{"a":1}\r\n\r\n{"a":2}\r\n', 'json'],
    [' ', 'json'],
    ['{"a":1}\n\ufeff{"a":2}', 'json'],
    ['{"a": 1, // one\n}', 'text'],
    ['{"a": 1}\u00a0\n{"a": 2}', 'text'],
    // The tree of the chunker would fill the memory.
    ['['.repeat(4_000_000), 'text'],
  ])('is JSON, JSON Lines, or source code: %#', async (text, type) => {
    const [document] = await loadDocument(bytesOf(text), { name: 'a.json' });
    expect(document!.type).toBe(type);
  });
});
