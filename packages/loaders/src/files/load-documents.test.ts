import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { createLogger, getDefaultLogger, setDefaultLogger } from '@quiver/core';
import type { MDocument } from '@quiver/rag/document';
import { createLexicalEmbedder } from '@quiver/rag';
import { ingest } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { column, scan, writePdf } from '../formats/pdf/pdf-document.fixture.js';
import type { RecognizeText } from '../recognize-pages.js';
import { createPathMatcher } from './glob.js';
import type { SkippedFile } from '../formats/document-loader.js';
import { expectError } from '../../../../scripts/test-error.ts';
import { listFiles, loadDocuments, type LoadDocumentsOptions } from './load-documents.js';

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>();
  return { ...original, readdir: vi.fn(original.readdir) };
});

const mailWithAttachment = [
  'From: a@x.example',
  'Subject: Two',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'Text.',
  '--b',
  'Content-Type: text/markdown; name=n.md',
  'Content-Disposition: attachment; filename=n.md',
  '',
  '# N',
  '--b--',
].join('\r\n');

let root: string;
let skipped: SkippedFile[];

beforeEach(async () => {
  root = await newFolder();
  skipped = [];
});

async function write(files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

async function load(options: LoadDocumentsOptions = {}): Promise<MDocument[]> {
  const documents: MDocument[] = [];
  for await (const document of loadDocuments(root, { onSkip: (file) => skipped.push(file), ...options })) {
    documents.push(document);
  }
  return documents;
}

const sources = (documents: MDocument[]): unknown[] =>
  documents.map(({ sources: [first] }) => first?.metadata['source']);

describe('loadDocuments', () => {
  test('reads each file by its type, in the order of paths, with its path as source', async () => {
    await write({
      'b.md': '# B',
      'a.txt': 'plain',
      'page.html': '<p>hi</p>',
      'data.json': '{"a":1}',
      'src/main.ts': 'export const a = 1;\n',
      'node_modules/x/readme.md': 'no',
      '.git/config.txt': 'no',
      'picture.png': 'no',
    });
    const documents = await load({ metadata: { team: 'docs' } });
    expect(sources(documents)).toEqual(['a.txt', 'b.md', 'data.json', 'page.html', 'src/main.ts']);
    expect(documents.map(({ type }) => type)).toEqual(['text', 'markdown', 'json', 'markdown', 'text']);
    expect((await documents[4]?.chunk())?.[0]?.metadata).toMatchObject({
      codeLanguage: 'ts',
      team: 'docs',
      startIndex: 0,
    });
    expect((await documents[4]?.chunk({ strategy: 'character' }))?.[0]?.metadata).not.toHaveProperty('codeLanguage');
    expect(skipped).toEqual([{ path: 'picture.png', reason: 'unknown type' }]);
  });

  test('takes the files that match, and leaves others out', async () => {
    await write({ 'docs/a.md': 'a', 'docs/drafts/b.md': 'b', 'docs/c.unknown': 'c', 'other/d.md': 'd' });
    expect(sources(await load({ include: ['docs/**'], exclude: ['docs/drafts'] }))).toEqual([
      'docs/a.md',
      'docs/c.unknown',
    ]);
    expect(sources(await load({ include: ['*.md'], exclude: ['docs/drafts/**', 'other'] }))).toEqual(['docs/a.md']);
  });

  test('reads PDF files with the pages of their chunks', async () => {
    await write({ 'manual.pdf': writePdf([column(20, 700, ['First page here']), column(20, 700, ['Second page'])]) });
    const [document] = await load();
    const chunks = await document!.chunk({ maxSize: 20, overlap: 0 });
    expect(chunks.map(({ text, metadata }) => [text, metadata.page, metadata['source']])).toEqual([
      ['First page here', 1, 'manual.pdf'],
      ['Second page', 2, 'manual.pdf'],
    ]);
  });

  test('reports files that are binary, damaged or too large, and continues', async () => {
    await write({
      'a.md': new Uint8Array([0xff, 0x00, 0x12, 0xc3]),
      'b.txt': 'zero \0 byte',
      'c.pdf': '%PDF-1.4 broken',
      'd.txt': 'x'.repeat(200),
      'e.txt': new Uint8Array([0xff, 0xfe, 0x68, 0x00, 0x69, 0x00]),
    });
    expect((await load({ maxFileSize: 100 })).map((document) => document.getText())).toEqual([['hi']]);
    expect(skipped.map(({ path, reason }) => [path, reason])).toEqual([
      ['a.md', 'binary'],
      ['b.txt', 'binary'],
      ['c.pdf', 'unreadable'],
      ['d.txt', 'too large'],
    ]);
    expect(skipped[2]?.error).toBeInstanceOf(Error);
  });

  test('reports files of other types, and reads those that a pattern matches as text', async () => {
    await write({ LICENSE: 'text', 'photo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x00]), 'notes.md': 'Notes.' });
    expect(sources(await load())).toEqual(['notes.md']);
    expect(skipped).toEqual([
      { path: 'LICENSE', reason: 'unknown type' },
      { path: 'photo.png', reason: 'unknown type' },
    ]);
    skipped = [];
    expect(sources(await load({ include: ['**/*'] }))).toEqual(['LICENSE', 'notes.md']);
    expect(skipped).toMatchObject([{ path: 'photo.png', reason: 'binary', error: { code: 'DOCUMENT_BINARY' } }]);
  });

  test('reads JSON Lines as JSON', async () => {
    await write({ 'events.jsonl': '{"a":1}\n{"a":2}\n' });
    const [document] = await load();
    expect(document?.type).toBe('json');
    expect((await document!.chunk({ maxSize: 8 })).map(({ text }) => text)).toEqual(['{"a":1}', '{"a":2}']);
  });

  test('takes JSON with comments for source code', async () => {
    await write({ 'tsconfig.json': '{\n  // strict\n  "strict": true,\n}' });
    const [document] = await load();
    expect(document?.type).toBe('text');
    expect((await document!.chunk())[0]?.metadata).toMatchObject({ codeLanguage: 'js', source: 'tsconfig.json' });
  });

  test('does not follow links, which may lead out of the folder or in circles', async () => {
    await write({ 'a.md': 'a' });
    await symlink(root, join(root, 'loop'));
    await symlink('/etc/hostname', join(root, 'outside.txt'));
    expect(sources(await load())).toEqual(['a.md']);
  });

  test.skipIf(process.platform === 'win32')('skips pipes and devices, also those that a caller names', async () => {
    await write({ 'a.md': '# A' });
    execFileSync('mkfifo', [join(root, 'pipe.md')]);
    expect(sources(await load({ paths: ['pipe.md', 'a.md'] }))).toEqual(['a.md']);
    expect(skipped).toMatchObject([{ path: 'pipe.md', reason: 'unreadable', error: { code: 'DOCUMENT_UNREADABLE' } }]);
  });

  test.each([
    ['EMFILE', { code: 'FOLDER_UNREADABLE', message: expect.stringContaining('sub') }],
    ['EACCES', undefined],
  ])('keeps the chunks of a folder that cannot be listed for the moment: %s', async (code, thrown) => {
    await write({ 'a.md': 'Text.', 'sub/b.md': 'Other text.' });
    const index = { vectorStore: new LocalVector(), indexName: 'notes', model: createLexicalEmbedder() };
    const run = async (): Promise<unknown> => {
      const documents = loadDocuments(root, { onSkip: (file) => skipped.push(file) });
      return ingest({ ...index, documents, cleanup: 'all' }).then(
        () => undefined,
        (error: unknown) => error,
      );
    };
    await run();
    const { readdir: original } = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises');
    const fail = async (...given: Parameters<typeof original>): Promise<unknown> => {
      if (String(given[0]).endsWith('sub')) throw Object.assign(new Error(code), { code });
      return original(...given);
    };
    vi.mocked(readdir)
      .mockImplementationOnce(fail as never)
      .mockImplementationOnce(fail as never);
    const error = await run();
    if (thrown) expect(error).toMatchObject(thrown);
    else expect([error, skipped]).toMatchObject([undefined, [{ path: 'sub', reason: 'unreadable' }]]);
    const { records } = await index.vectorStore.listVectors({ indexName: 'notes' });
    expect(records).toHaveLength(thrown ? 2 : 1);
  });

  test.skipIf(process.platform === 'win32')(
    'keeps the chunks of files that cannot be opened for the moment',
    async () => {
      await write(Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`${n}.md`, `Text number ${n}.`])));
      const program = `
      import { closeSync, openSync } from 'node:fs';
      import { createLexicalEmbedder, ingest } from '@quiver/rag';
      import { LocalVector } from '@quiver/rag/local';
      import { loadDocuments } from ${JSON.stringify(new URL('load-documents.ts', import.meta.url))};
      const index = { vectorStore: new LocalVector(), indexName: 'notes', model: createLexicalEmbedder() };
      const codes = new Set();
      const run = async () => {
        const documents = loadDocuments(${JSON.stringify(root)}, { onSkip: ({ error }) => codes.add(error.code) });
        await ingest({ ...index, documents, cleanup: 'all' });
        return (await index.vectorStore.listVectors({ indexName: 'notes' })).records.length;
      };
      const before = await run();
      const open = [];
      try { for (;;) open.push(openSync('.', 'r')); } catch { closeSync(open.pop()); }
      const after = await run();
      for (const descriptor of open) closeSync(descriptor);
      console.log(JSON.stringify({ before, after, codes: [...codes] }));`;
      const hooks = new URL('../../../../scripts/source-hooks.mjs', import.meta.url).href;
      const options = ['--conditions=@quiver/source', '--import', hooks, '--input-type=module', '-e', program];
      const command = [process.execPath, ...options];
      const output = execFileSync('bash', ['-c', 'ulimit -n 100; exec "$0" "$@"', ...command], {
        encoding: 'utf8',
        cwd: import.meta.dirname,
      });
      expect(JSON.parse(output)).toEqual({ before: 8, after: 8, codes: ['EMFILE'] });
    },
  );

  test('reads on demand, reports its progress, and stops for its signal', async () => {
    await write({ 'a.md': 'a', 'b.md': 'b', 'c.md': '\0' });
    const progress: unknown[] = [];
    await load({ onProgress: (event) => progress.push(event) });
    expect(progress).toEqual([
      { loaded: 1, skipped: 0, total: 3, path: 'a.md' },
      { loaded: 2, skipped: 0, total: 3, path: 'b.md' },
      { loaded: 2, skipped: 1, total: 3, path: 'c.md' },
    ]);
    const controller = new AbortController();
    await expect(load({ signal: controller.signal, onProgress: () => controller.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  test('reads two files with parsers at a time, and yields them in the order of their paths', async () => {
    await write({ 'a.pdf': writePdf([scan]), 'b.pdf': writePdf([scan]), 'c.md': 'C' });
    let onSecond = (): void => undefined;
    const second = new Promise<void>((resolve) => (onSecond = resolve));
    const documents = await load({
      // The first page is recognized after the second one.
      ocr: async ({ name }) => {
        if (name === 'a.pdf') await second;
        else onSecond();
        return `text of ${name}`;
      },
    });
    expect(documents.map((document) => document.getText())).toEqual([['text of a.pdf'], ['text of b.pdf'], ['C']]);
  });

  test('lists documents in formats that are not read in one line at the end', async () => {
    const lines: string[] = [];
    const before = getDefaultLogger();
    setDefaultLogger(createLogger({ write: (line) => lines.push(line) }));
    try {
      await write({ 'a.doc': 'x', 'b.DOC': 'x', 'c.rtf': 'x', 'd.xls': 'x', 'e.png': 'x', 'f.gz': 'x', 'g.md': 'G' });
      for await (const _ of loadDocuments(root));
      expect(lines).toEqual([
        expect.stringContaining('not read: 2 DOC, 1 RTF (convert to DOCX); 1 XLS (convert to XLSX); 1 GZ (unpack)'),
      ]);
      await load();
      expect(lines).toHaveLength(1);
      expect(skipped[0]).toMatchObject({
        path: 'a.doc',
        reason: 'unknown type',
        error: { code: 'DOCUMENT_TYPE_UNKNOWN', message: expect.stringContaining('convert to DOCX') },
      });
    } finally {
      setDefaultLogger(before);
    }
  });

  describe('with a cache', () => {
    let recognized: string[];
    const ocr: RecognizeText = async ({ name, page }) => {
      recognized.push(name);
      return `Text of ${name}, page ${page}.`;
    };
    const cache = (): string => join(root, 'cache');
    const run = (options: LoadDocumentsOptions = {}): Promise<MDocument[]> => {
      recognized = [];
      return load({ ocr, cache: cache(), ...options });
    };

    test('continues an interrupted run, and parses only what has changed', async () => {
      await write({ 'a.pdf': writePdf([scan]), 'b.pdf': writePdf([scan, scan]), 'c.csv': 'a,b\n1,2\n', 'd.md': '# D' });
      const controller = new AbortController();
      const interrupted = run({
        signal: controller.signal,
        ocr: (page) => (page.name === 'b.pdf' ? new Promise(() => undefined) : ocr(page)),
        onProgress: () => controller.abort(),
      });
      await expect(interrupted).rejects.toMatchObject({ name: 'AbortError' });

      const documents = await run();
      expect(recognized).toEqual(['b.pdf', 'b.pdf']);
      expect(sources(documents)).toEqual(['a.pdf', 'b.pdf', 'c.csv', 'd.md']);
      const again = await run();
      expect(recognized).toEqual([]);
      expect(again.map((document) => document.getDocs())).toEqual(documents.map((document) => document.getDocs()));

      await write({ 'a.pdf': writePdf([scan, scan]) });
      await run();
      expect(recognized).toEqual(['a.pdf', 'a.pdf']);
    });

    test('parses a file again when an option changes its texts, and when its entry is damaged', async () => {
      await write({ 'a.pdf': writePdf([scan]) });
      await run();
      const [document] = await run({ metadata: { team: 'docs' }, timeout: 50_000 });
      expect(recognized).toEqual(['a.pdf']);
      expect(document?.sources[0]?.metadata).toMatchObject({ team: 'docs', source: 'a.pdf' });
      const [entry = ''] = await readdir(cache());
      await truncate(join(cache(), entry), 100);
      expect(sources(await run({ metadata: { team: 'docs' } }))).toEqual(['a.pdf']);
      expect(recognized).toEqual(['a.pdf']);
    });

    test('reports pages without text again, and repeats those that failed', async () => {
      await write({ 'a.pdf': writePdf([column(20, 700, ['First']), scan]) });
      for (let count = 0; count < 2; count += 1) {
        skipped = [];
        await load({ cache: cache() });
        expect(skipped).toEqual([{ path: 'a.pdf#page=2', page: 2, reason: 'no text' }]);
      }
      await run({ ocr: () => Promise.reject(new Error('offline')) });
      expect(skipped.at(-1)).toMatchObject({ reason: 'no text', error: { message: 'offline' } });
      await run();
      expect(recognized).toEqual(['a.pdf']);
    });

    test('rejects a folder that cannot be created', async () => {
      await write({ file: 'x' });
      await expect(run({ cache: join(root, 'file/cache') })).rejects.toMatchObject({ code: 'FOLDER_UNREADABLE' });
    });
  });

  test('rejects a missing folder', async () => {
    await write({ file: 'x' });
    await expect(load().then(() => loadDocuments(join(root, 'none')).next())).rejects.toMatchObject({
      code: 'FOLDER_UNREADABLE',
    });
    await expect(loadDocuments(join(root, 'file')).next()).rejects.toMatchObject({ code: 'FOLDER_UNREADABLE' });
    for (const path of ['', undefined])
      await expect(loadDocuments(path as string).next()).rejects.toMatchObject({ code: 'FOLDER_UNREADABLE' });
  });

  test.each([
    [{ include: '**/*.md' }, "loadDocuments: 'include' must be a list of non-empty strings, not '**/*.md'."],
    [{ maxFileSize: 0 }, "loadDocuments: 'maxFileSize' must be a number above 0, not 0."],
  ])('rejects the options %j', async (options, message) => {
    await expectError(load(options as object), 'OPTIONS_INVALID', message);
  });

  test('feeds an index', async () => {
    await write({ 'a.md': '# A\n\nOne.\n\n# B\n\nTwo.', 'page.html': '<h1>T</h1><p>Three.' });
    await using store = new LocalVector();
    const embedder = createLexicalEmbedder();
    const run = (): ReturnType<typeof ingest> =>
      ingest({ documents: loadDocuments(root), vectorStore: store, indexName: 'i', model: embedder });
    expect(await run()).toMatchObject({ documents: 2, added: 3 });
    expect(await run()).toMatchObject({ documents: 2, added: 0, unchanged: 3 });
  });
});

describe('path patterns', () => {
  test.each([
    ['*.md', ['a.md', 'x/a.md'], ['a.mdx', 'md']],
    ['docs/*.md', ['docs/a.md'], ['docs/x/a.md', 'a.md']],
    ['**/*.{md,txt}', ['a.md', 'x/y/a.txt'], ['a.ts', 'x/a.mdx']],
    ['docs/**', ['docs/a', 'docs/x/y', 'docs'], ['docsx/a']],
    ['a?[0-9].ts', ['ab1.ts'], ['a1.ts', 'abc.ts']],
    ['[!a]*', ['b', 'x/bc'], ['a', 'x/ab']],
    ['a+(b).md', ['a+(b).md'], ['aab.md']],
    [String.raw`\*.md`, ['*.md'], ['a.md']],
  ])('%s', (pattern, matching, others) => {
    const matches = createPathMatcher([pattern]);
    expect(matching.filter(matches)).toEqual(matching);
    expect(others.filter(matches)).toEqual([]);
  });

  test('are rejected if a brace is open', () => {
    expect(() => createPathMatcher(['{a,b'])).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
    expect(() => createPathMatcher(['[z-a]'])).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  });
});

describe('the total of a folder', () => {
  test('is known after its list, and follows skipped files and attachments', async () => {
    await writeFile(join(root, 'a.md'), 'A');
    await writeFile(join(root, 'b.pdf'), 'no PDF');
    await writeFile(join(root, 'c.eml'), mailWithAttachment);
    const documents = loadDocuments(root, { onSkip: () => undefined });
    expect(documents.total).toBeUndefined();
    const totals: unknown[] = [];
    for await (const document of documents) totals.push([document.sources.length, documents.total]);
    expect(totals).toEqual([
      [1, 3],
      [1, 3],
      [1, 3],
    ]);
  });
});

describe('listFiles', () => {
  test('lists what loadDocuments loads, with a fingerprint of the content', async () => {
    await write({ 'b.md': 'B', 'a/c.txt': 'C', 'x.bin': 'X', '.hidden/d.md': 'D' });
    const list = async (): Promise<Map<string, string>> => {
      const files = new Map<string, string>();
      for await (const { source, fingerprint } of listFiles(root, { onSkip: () => undefined }))
        files.set(source, fingerprint);
      return files;
    };
    const before = await list();
    expect([...before.keys()]).toEqual(sources(await load()));
    await write({ 'b.md': 'B and more' });
    const after = await list();
    expect(after.get('a/c.txt')).toBe(before.get('a/c.txt'));
    expect(after.get('b.md')).not.toBe(before.get('b.md'));
  });

  test('rejects a folder that does not exist', async () => {
    const first = listFiles(join(root, 'none')).next();
    await expect(first).rejects.toMatchObject({ code: 'FOLDER_UNREADABLE' });
  });
});

describe('paths', () => {
  test('loads these files only, and skips those that no longer exist', async () => {
    await write({ 'a.md': 'A', 'b.md': 'B' });
    expect(sources(await load({ paths: ['b.md', 'gone.md'] }))).toEqual(['b.md']);
    expect(skipped).toMatchObject([{ path: 'gone.md', reason: 'unreadable' }]);
  });

  test('skips paths that lead out of the folder', async () => {
    await write({ 'docs/a.md': 'A', 'secret.md': 'S', 'secrets/s.md': 'S' });
    await symlink(join(root, 'secrets'), join(root, 'docs/link'));
    const paths = ['../secret.md', 'sub/../../secret.md', join(root, 'secret.md'), 'link/s.md', 'a.md'];
    const documents: MDocument[] = [];
    for await (const one of loadDocuments(join(root, 'docs'), { paths, onSkip: (file) => skipped.push(file) }))
      documents.push(one);
    expect(sources(documents)).toEqual(['a.md']);
    expect(skipped.map(({ path }) => path)).toEqual(paths.slice(0, -1));
  });
});
