import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { MockLanguageModelV4 } from 'ai/test';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectError } from '../../../../scripts/test-error.ts';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import { LocalVector } from '../stores/local/index.js';
import { modelThatSays } from '../llm.fixture.js';
import { deleteDocuments } from './delete-documents.js';
import { ingest, type IngestProgress, type IngestOptions } from './ingest.js';

const indexName = 'docs';
const lexical = createLexicalEmbedder();
let store: LocalVector;
let embed: ReturnType<typeof vi.fn<Embedder['embed']>>;
let embedder: Embedder;

beforeEach(() => {
  store = new LocalVector();
  embed = vi.fn<Embedder['embed']>((texts, options) => lexical.embed(texts, options));
  embedder = { ...lexical, embed };
});

const guide = (text: string, source = 'guide.md'): MDocument => MDocument.fromMarkdown(text, { source });
const run = (documents: IngestOptions['documents'], options: Partial<IngestOptions> = {}): ReturnType<typeof ingest> =>
  ingest({ documents, vectorStore: store, indexName, model: embedder, ...options });
const embedded = (): string[] => embed.mock.calls.flatMap(([texts]) => [...texts]);
const stored = async (): Promise<string[]> =>
  (await store.listVectors({ indexName })).records.map(({ document }) => document ?? '').toSorted();

describe('ingest', () => {
  it('reports the share of its documents and the time left, if their number is known', async () => {
    const documents = Array.from({ length: 4 }, (_, n) => MDocument.fromText(`Text ${n}.`, { source: `${n}.md` }));
    const read = (given: IngestOptions['documents']): Promise<IngestProgress[]> => {
      const progress: IngestProgress[] = [];
      const options = {
        indexName,
        batchSize: 1,
        concurrency: 1,
        onProgress: (one: IngestProgress) => progress.push(one),
      };
      return ingest({ documents: given, vectorStore: new LocalVector(), model: embedder, ...options }).then(
        () => progress,
      );
    };
    async function* stream(): AsyncGenerator<MDocument> {
      yield* documents;
    }
    for (const given of [documents, Object.assign(stream(), { total: 4 })]) {
      const progress = await read(given);
      expect(progress.at(-1)).toMatchObject({ documents: 4, totalDocuments: 4, share: 1, secondsLeft: 0 });
      expect(progress.find((one) => one.documents === 2)).toMatchObject({ share: 0.5 });
      expect(progress.find((one) => one.documents === 2)?.secondsLeft).toBeGreaterThan(0);
    }
    expect((await read(stream()))[0]).not.toHaveProperty('share');
  });

  it('counts what is not searched of a page in HTML', async () => {
    const page = MDocument.fromHTML(
      '<nav>Home</nav><h1>A</h1><p>Some text of a page that is long enough to be searched.',
      { source: 'a' },
    );
    expect(await ingest({ documents: [page], vectorStore: store, indexName, model: embedder })).toMatchObject({
      skippedText: { navigation: 4 },
    });
  });

  it('names the language of a document in its chunks that do not show theirs', async () => {
    const table = '| Artikel | Preis |\n| --- | --- |\n| Schrauben | 3 |';
    const prose = 'Die Preise der Schrauben sind nicht mit denen der Nägel zu vergleichen, weil sie aus Stahl sind.';
    const chunkOptions = { maxSize: 120 };
    await run([guide(`# Preise\n\n${prose}\n\n## Liste\n\n${table}`), guide(`# Prices\n\n${table}`, 'prices.md')], {
      chunkOptions,
    });
    const { records } = await store.listVectors({ indexName });
    const languages = records.map(({ document = '', metadata }) => [
      document.includes('|'),
      metadata['source'],
      metadata['language'],
    ]);
    expect(languages).toContainEqual([true, 'guide.md', 'de']);
    expect(languages).toContainEqual([true, 'prices.md', undefined]);
    expect(languages).toContainEqual([false, 'guide.md', undefined]);
    const found = await store.query({ indexName, mode: 'keyword', queryText: 'Schraube' });
    expect(found.map(({ metadata }) => metadata['source'])).toContain('guide.md');
    expect(
      (await run([guide(`# Preise\n\n${prose}\n\n## Liste\n\n${table}`)], { chunkOptions, cleanup: 'none' })).added,
    ).toBe(0);
  });

  it('names the language of a long document, of which a part shows it', async () => {
    const table = (row: number): string => `| Artikel | Preis |\n| --- | --- |\n| Schrauben M${row} | ${row} |`;
    const prose = 'Die Preise der Schrauben sind nicht mit denen der Nägel zu vergleichen, weil sie aus Stahl sind.';
    const sections = Array.from({ length: 60 }, (_, n) => `## ${n}\n\n${n % 4 === 0 ? `${n}. ${prose}` : table(n)}`);
    await run([guide(sections.join('\n\n'))], { chunkOptions: { maxSize: 120, minSize: 0 } });
    const { records } = await store.listVectors({ indexName, limit: 1000 });
    const tables = records.filter(({ document }) => document?.includes('|'));
    expect(tables.length).toBeGreaterThan(40);
    expect(new Set(tables.map(({ metadata }) => metadata['language']))).toEqual(new Set(['de']));
  });

  it('names a missing store, also in a dry run, and missing options', async () => {
    const code = 'OPTIONS_INVALID';
    const message = expect.stringContaining("needs 'vectorStore': a vector store, such as a LocalVector.") as string;
    const missing = { vectorStore: undefined } as unknown as Partial<IngestOptions>;
    await expect(run([], missing)).rejects.toMatchObject({ code, message });
    await expect(run([], { ...missing, dryRun: true })).rejects.toMatchObject({ code, message });
    const deletion = { indexName, sources: ['a'] } as unknown as Parameters<typeof deleteDocuments>[0];
    await expect(deleteDocuments(deletion)).rejects.toMatchObject({ code, message });
    await expect(run([], { model: undefined as never })).rejects.toThrow("ingest needs 'model': an embedding model");
    await expect(ingest(undefined as never)).rejects.toMatchObject({
      code,
      message: 'ingest needs its options, an object, not undefined.',
    });
  });

  it('creates the index and stores every chunk with its text, place and source', async () => {
    const report = await run([guide('# Coats\n\nWarm ones.\n\n## Winter\n\nBelow five degrees.')], {
      chunkOptions: { minSize: 0 },
    });
    expect(report).toEqual({ documents: 1, added: 2, moved: 0, unchanged: 0, removed: 0 });
    const { records } = await store.listVectors({ indexName, filter: { startIndex: { $gt: 0 } } });
    expect(records).toMatchObject([
      {
        document: '## Winter\n\nBelow five degrees.',
        metadata: { source: 'guide.md', headings: ['Coats', 'Winter'], startIndex: 21, endIndex: 51 },
      },
    ]);
  });

  it('embeds nothing the second time', async () => {
    const documents = [guide('# A\n\nOne.\n\n# B\n\nTwo.')];
    await run(documents);
    embed.mockClear();
    expect(await run(documents)).toEqual({ documents: 1, added: 0, moved: 0, unchanged: 2, removed: 0 });
    expect(embed).not.toHaveBeenCalled();
  });

  it('embeds only the section that changed, and moves those behind it', async () => {
    await run([guide('# A\n\nOne.\n\n# B\n\nTwo.')]);
    embed.mockClear();
    expect(await run([guide('# A\n\nOne and a half.\n\n# B\n\nTwo.')])).toEqual({
      documents: 1,
      added: 1,
      moved: 1,
      unchanged: 0,
      removed: 1,
    });
    expect(embedded()).toEqual(['A\n\n# A\n\nOne and a half.']);
    const text = '# A\n\nOne and a half.\n\n# B\n\nTwo.';
    for (const { document, metadata } of (await store.listVectors({ indexName })).records) {
      expect(text.slice(metadata['startIndex'], metadata['endIndex'])).toBe(document);
    }
  });

  it('updates the places on pages, and embeds nothing', async () => {
    for (const left of [0, 1]) {
      const places = [{ start: 0, end: 5, page: 1, box: [left, 0, 50, 10] as const }];
      const report = await run([new MDocument({ text: 'Text.', metadata: { source: 'a.pdf' }, places })]);
      expect(report).toMatchObject(left === 0 ? { added: 1 } : { moved: 1 });
      expect((await store.listVectors({ indexName })).records).toMatchObject([
        { metadata: { box: [left, 0, 50, 10] } },
      ]);
    }
  });

  it('embeds a section again when a heading above it changed', async () => {
    const options = { chunkOptions: { minSize: 0 } };
    await run([guide('# Old\n\nIntro.\n\n## Same\n\nText.')], options);
    embed.mockClear();
    await run([guide('# New\n\nIntro.\n\n## Same\n\nText.')], options);
    expect(embedded()).toContain('New › Same\n\n## Same\n\nText.');
  });

  it('embeds the text alone where the metadata have headings that are not a list of texts', async () => {
    const documents = ['A', 5, [5, '']].map((headings, place) =>
      MDocument.fromText(`Text ${place}.`, { source: `${place}.txt`, headings }),
    );
    await run(documents);
    expect(embedded()).toEqual(['Text 0.', 'Text 1.', 'Text 2.']);
  });

  it('leaves other documents alone, unless the index is to mirror what is given', async () => {
    await run([guide('One.', 'a.md'), guide('Two.', 'b.md')]);
    expect(await run([guide('One, changed.', 'a.md')])).toMatchObject({ added: 1, removed: 1 });
    expect(await stored()).toEqual(['One, changed.', 'Two.']);
    expect(await run([guide('One, changed.', 'a.md')], { cleanup: 'all' })).toMatchObject({ unchanged: 1, removed: 1 });
    expect(await stored()).toEqual(['One, changed.']);
    expect(await run([guide('Three.', 'a.md')], { cleanup: 'none' })).toMatchObject({ added: 1, removed: 0 });
    expect(await stored()).toEqual(['One, changed.', 'Three.']);
  });

  it('keeps the chunks of a document that is unavailable', async () => {
    await run([guide('One.', 'a.md'), guide('Two.', 'b.md')]);
    const documents = [guide('One, changed.', 'a.md'), MDocument.unavailable('b.md')];
    for (const cleanup of ['source', 'all'] as const)
      expect(await run(documents, { cleanup })).toMatchObject({ documents: 1 });
    expect(await stored()).toEqual(['One, changed.', 'Two.']);
  });

  it('removes all chunks of a document that has become empty', async () => {
    await run([guide('One.', 'a.md'), guide('Two.', 'b.md')]);
    const emptied = guide('', 'a.md');
    await emptied.chunk();
    expect(await run([emptied])).toMatchObject({ documents: 1, removed: 1 });
    expect(await stored()).toEqual(['Two.']);
  });

  it('never removes chunks of documents that name no source', async () => {
    await run([MDocument.fromText('Anonymous one.')]);
    await run([MDocument.fromText('Anonymous two.')]);
    expect(await stored()).toEqual(['Anonymous one.', 'Anonymous two.']);
  });

  it('refuses an embedder other than the one that made the index, of any dimension, and changes nothing', async () => {
    await run([guide('One.')]);
    const others = [{ ...embedder, id: 'another-model' }, createLexicalEmbedder({ dimension: 64 })];
    for (const other of others) {
      await expectError(run([guide('Two.')], { model: other, cleanup: 'all' }), 'INGEST_EMBEDDER_CHANGED', other.id);
    }
    expect(await stored()).toEqual(['One.']);
  });

  it('refuses another embedder also of a record that is not among the first', async () => {
    const documents = Array.from({ length: 101 }, (_, n) => guide(`Text ${n}.`, `${n}.md`));
    await run(documents);
    const { records } = await store.listVectors({ indexName, limit: 101 });
    const { id, metadata } = records.at(-1)!;
    await store.updateVector({ indexName, id, update: { metadata: { ...metadata, embedder: 'other' } } });
    await expectError(run(documents), 'INGEST_EMBEDDER_CHANGED', 'other');
  });

  it('keeps the settings of an existing index', async () => {
    await store.createIndex({ indexName, dimension: lexical.dimension ?? 0, metric: 'dotproduct' });
    await run([guide('One.')]);
    expect(await store.describeIndex({ indexName })).toMatchObject({ metric: 'dotproduct', count: 1 });
    const small = createLexicalEmbedder({ dimension: 8 });
    await store.truncateIndex({ indexName });
    await expectError(run([guide('Two.')], { model: small }), 'VECTOR_DIMENSION_MISMATCH');
  });

  it('creates no index from vectors of different lengths, of another length than declared, or of zeros', async () => {
    const given = (vectors: number[][], dimension?: number): Promise<unknown> =>
      run([guide('# A\n\nOne.\n\n# B\n\nTwo.')], { model: { id: 'own', dimension, embed: async () => vectors } });
    const code = 'EMBEDDING_INVALID';
    await expectError(given([[1, 2], [1]]), code);
    await expectError(given([[1], [1]], 2), code);
    await expect(given([[1], [0]])).rejects.toMatchObject({
      code,
      message: expect.stringMatching(
        /'own' returned only zeros for the text "# B.*" of "guide\.md".*'docs'.*'euclidean'/s,
      ),
      details: { indexName, source: 'guide.md' },
    });
    expect(await store.listIndexes()).toEqual([]);
    expect(await given([[1], [2]])).toMatchObject({ added: 2 });
  });

  it('says what to do when the index has the dimension of a wrong first response', async () => {
    const answers = [
      [1, 2, 3],
      [1, 2],
      [1, 2],
    ];
    const embedder = { id: 'own', embed: async () => [answers.shift() ?? []] };
    const mismatch = {
      code: 'VECTOR_DIMENSION_MISMATCH',
      message: expect.stringMatching(
        /'docs' has dimension 3.*'own'.* of 2 numbers.*deleteIndex\(\{ indexName: 'docs' \}\)/,
      ),
      details: { indexName, expected: 3, actual: 2 },
    };
    const texts = ['One.', 'Two.'].map((text, place) => guide(text, `${place}.md`));
    await expect(run(texts, { model: embedder, batchSize: 1, concurrency: 1 })).rejects.toMatchObject(mismatch);
    await expect(run([guide('Two.')], { model: embedder })).rejects.toMatchObject(mismatch);
    expect(await stored()).toEqual(['One.']);
  });

  it('stores vectors of zeros where the metric compares them, and texts without words', async () => {
    const zeros = { id: 'zeros', embed: async (texts: readonly string[]) => texts.map(() => [0, 0]) };
    expect(await run([guide('One.')], { model: zeros, metric: 'euclidean' })).toMatchObject({ added: 1 });
    expect(await run([guide('***'), guide('To be or not to be.')], { indexName: 'words' })).toMatchObject({ added: 2 });
  });

  it.each(['embedder', 'vectorOf', 'alsoIn'])('refuses the metadata %s, which it would overwrite', async (key) => {
    const document = MDocument.fromText('One.', { [key]: 'mine' });
    await expectError(run([document]), 'INGEST_METADATA_RESERVED');
  });

  it('takes documents from an async iterable, in batches, and reports progress', async () => {
    async function* read(): AsyncGenerator<MDocument> {
      for (let n = 0; n < 100; n += 1) yield guide(`Text number ${n}.`, `${n}.md`);
    }
    const progress: number[] = [];
    await run(read(), { batchSize: 8, onProgress: ({ documents }) => progress.push(documents) });
    expect(embed.mock.calls.every(([texts]) => texts.length <= 8)).toBe(true);
    expect(progress.length).toBeGreaterThan(10);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(100);
  });

  it('embeds a chunk with its context instead of its headings, also when the context is new', async () => {
    const metadata = { source: 'a.md', title: 'Handbook' };
    const documents = [MDocument.fromMarkdown('# Travel\n\nAsk first.', metadata)];
    const prefix = { chunkOptions: { extract: { context: 'prefix' as const } } };
    await run(documents);
    expect(await run(documents, prefix)).toMatchObject({ added: 1 });
    expect(await run(documents, prefix)).toMatchObject({ added: 0, unchanged: 1 });
    expect(embedded()).toEqual(['Travel\n\n# Travel\n\nAsk first.', 'Handbook › Travel\n\n# Travel\n\nAsk first.']);
    expect(await stored()).toEqual(['# Travel\n\nAsk first.']);
  });

  it('only counts in a dry run', async () => {
    await run([guide('# A\n\nOne.\n\n# B\n\nTwo.'), guide('Old.', 'old.md')]);
    embed.mockClear();
    const before = await store.listVectors({ indexName, includeVector: true });
    const version = await store.version({ indexName });
    const llm = new MockLanguageModelV4({ doGenerate: async () => Promise.reject(new Error('must not be called')) });
    const documents = [guide('# A\n\nOne.\n\n# B\n\nTwo and a half.'), guide('New text.', 'new.md')];
    const report = await run(documents, {
      dryRun: true,
      cleanup: 'all',
      chunkOptions: { extract: { llm, keywords: true, context: { llm } } },
    });
    expect(report).toMatchObject({ documents: 2, removed: expect.any(Number) });
    expect(report.estimate).toMatchObject({ texts: 3, modelRequests: 5 });
    expect(report.estimate!.tokens).toBeGreaterThan(5);
    expect(report.estimate!.modelTokens).toBeGreaterThan(100);
    expect(await run(documents, { dryRun: true, indexName: 'missing' })).toMatchObject({ added: 3 });
    expect(await store.listIndexes()).toEqual([indexName]);
    expect(embed).not.toHaveBeenCalled();
    expect(await store.listVectors({ indexName, includeVector: true })).toEqual(before);
    expect(await store.version({ indexName })).toBe(version);
    const other = { ...embedder, dimension: 7 };
    await expectError(run(documents, { dryRun: true, model: other }), 'VECTOR_DIMENSION_MISMATCH');
  });

  it('chunks each document once, also to extract metadata', async () => {
    let measured = 0;
    const lengthFunction = (text: string): number => {
      measured += 1;
      return text.length;
    };
    const chunkOptions = { strategy: 'recursive', maxSize: 8, overlap: 0, lengthFunction } as const;
    const documents = [guide('One two three four five six.')];
    await documents[0]?.chunk(chunkOptions);
    const once = measured;
    for (const indexName of ['first', 'first', 'second']) {
      measured = 0;
      await run(documents, { indexName, chunkOptions: { ...chunkOptions, extract: { context: 'prefix' } } });
      expect(measured).toBe(once);
    }
  });

  it('asks a model about new and changed documents, and keeps what it said of the others', async () => {
    let asked = 0;
    const llm = modelThatSays(() => `Keywords ${(asked += 1)}`);
    const extract = { chunkOptions: { extract: { llm, keywords: true } } };
    const keywords = async (): Promise<unknown[]> =>
      (await store.listVectors({ indexName })).records.map(({ metadata }) => metadata['excerptKeywords']).toSorted();
    await run([guide('One.', 'a.md'), guide('Two.', 'b.md')], extract);
    expect(await run([guide('One.', 'a.md'), guide('Two.', 'b.md')], extract)).toMatchObject({
      unchanged: 2,
      moved: 0,
    });
    expect(await keywords()).toEqual(['Keywords 1', 'Keywords 2']);
    expect(await run([guide('One.', 'a.md'), guide('Three.', 'b.md')], extract)).toMatchObject({
      unchanged: 1,
      added: 1,
    });
    expect(await keywords()).toEqual(['Keywords 1', 'Keywords 3']);
  });

  it('can be aborted, keeps stored chunks, and resumes', async () => {
    const documents = Array.from({ length: 20 }, (_, n) => guide(`Text number ${n}.`, `${n}.md`));
    const controller = new AbortController();
    embed.mockImplementation((texts, options) => {
      if (embed.mock.calls.length === 3) controller.abort(new Error('stopped by the user'));
      return lexical.embed(texts, options);
    });
    const slowly = { batchSize: 4, concurrency: 1, signal: controller.signal };
    await expect(run(documents, slowly)).rejects.toThrow('stopped by the user');
    const before = (await stored()).length;
    expect(before).toBeGreaterThanOrEqual(8);
    expect(await run(documents)).toMatchObject({ unchanged: before, added: 20 - before });
  });

  it('stops a request to the model when it is aborted, and leaves nothing running', async () => {
    const controller = new AbortController();
    const aborted: unknown[] = [];
    embed.mockImplementation(
      (_texts, { signal } = {}) =>
        new Promise((_resolve, reject) => {
          if (embed.mock.calls.length === 4) setTimeout(() => controller.abort(new Error('enough')));
          signal?.addEventListener('abort', () => {
            aborted.push(signal.reason);
            reject(signal.reason as Error);
          });
        }),
    );
    const documents = Array.from({ length: 20 }, (_, n) => guide(`Text ${n}.`, `${n}.md`));
    await expect(run(documents, { batchSize: 1, signal: controller.signal })).rejects.toThrow('enough');
    expect(aborted).toHaveLength(4);
    expect(embed).toHaveBeenCalledTimes(4);
  });

  it('can be aborted by a timer although neither store nor embedder ever waits', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('time is up')));
    function* endless(): Generator<MDocument> {
      for (let n = 0; ; n += 1) yield guide(`Text ${n}.`, `${n}.md`);
    }
    await expect(run(endless(), { batchSize: 10, signal: controller.signal })).rejects.toThrow('time is up');
  });

  it('can be aborted while it waits for documents that never come', async () => {
    const controller = new AbortController();
    const stalled: AsyncIterable<MDocument> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          setTimeout(() => controller.abort(new Error('enough')));
          return new Promise(() => undefined);
        },
      }),
    };
    await expect(run(stalled, { signal: controller.signal })).rejects.toThrow('enough');
  });

  it('lets its documents close what they read from, also when it is aborted', async () => {
    const controller = new AbortController();
    let closed = 0;
    async function* read(beforeLast = async (): Promise<void> => undefined): AsyncGenerator<MDocument> {
      try {
        yield guide('One.', 'a.md');
        await beforeLast();
        yield guide('Two.', 'b.md');
      } finally {
        closed += 1;
      }
    }
    await run(read(), { signal: controller.signal });
    expect(closed).toBe(1);
    embed.mockRejectedValueOnce(new Error('quota exceeded'));
    const failing = { batchSize: 1, concurrency: 1, signal: controller.signal, indexName: 'other' };
    await expect(run(read(), failing)).rejects.toThrow('quota exceeded');
    expect(closed).toBe(2);
    const abort = async (): Promise<void> => controller.abort(new Error('enough'));
    const aborted = run(read(abort), { signal: controller.signal, indexName: 'third' });
    await expect(aborted).rejects.toThrow('enough');
    await vi.waitFor(() => expect(closed).toBe(3));
  });

  it('stops an extraction when it is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const llm = new MockLanguageModelV4({
      doGenerate: ({ abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () => reject(new Error('closed')));
          setTimeout(() => controller.abort(reason));
        }),
    });
    const options = { chunkOptions: { extract: { llm, keywords: true } }, signal: controller.signal };
    await expect(run([guide('One.')], options)).rejects.toBe(reason);
  });

  it('embeds several batches at once, and no more than it is allowed', async () => {
    let running = 0;
    let most = 0;
    const threeRun = new EventTarget();
    const wait = once(threeRun, 'three');
    embed.mockImplementation(async (texts, options) => {
      most = Math.max(most, (running += 1));
      if (running === 3) threeRun.dispatchEvent(new Event('three'));
      await wait;
      running -= 1;
      return lexical.embed(texts, options);
    });
    const documents = Array.from({ length: 40 }, (_, n) => guide(`Text ${n}.`, `${n}.md`));
    const createIndex = vi.spyOn(store, 'createIndex');
    expect(await run(documents, { batchSize: 4, concurrency: 3 })).toMatchObject({ added: 40 });
    expect(createIndex).toHaveBeenCalledTimes(1);
    expect(most).toBe(3);
    for (const wrong of [
      { concurrency: 0 },
      { batchSize: 0.5 },
      { maxRetries: -1 },
      { maxRetries: Number.NaN },
      { cleanup: 'sources' as 'source' },
      { vectorStore: undefined as never },
      { documents: undefined as never },
      { documents: './docs' as never },
      { documents: Promise.resolve(documents) as never },
      { documents: documents[0] as never },
      { documents: ['text'] as never },
      { documents: [undefined] as never },
    ])
      await expectError(run(documents, wrong), 'OPTIONS_INVALID');
  });

  it('tries again what may pass, in the store and in the model', async () => {
    const upsert = vi.spyOn(store, 'upsert');
    upsert.mockRejectedValueOnce(Object.assign(new Error('connection reset'), { code: 'ECONNRESET' }));
    const slowDown = { isRetryable: true, responseHeaders: { 'retry-after-ms': '1' } };
    embed.mockRejectedValueOnce(Object.assign(new Error('slow down'), slowDown));
    expect(await run([guide('One.')])).toMatchObject({ added: 1 });
    expect([embed.mock.calls.length, upsert.mock.calls.length]).toEqual([2, 2]);

    upsert.mockRejectedValue(Object.assign(new Error('terminated'), { code: '57P01' }));
    await expect(run([guide('Two.')], { maxRetries: 0 })).rejects.toThrow('terminated');
    expect(upsert).toHaveBeenCalledTimes(3);
  });

  describe('with a store that is unavailable', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const delays: number[] = [];

    beforeEach(() => {
      delays.length = 0;
      const { setTimeout: realSetTimeout } = globalThis;
      // Counts the delays instead of waiting for them.
      vi.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, delay = 0) => {
        if (delay > 0) delays.push(delay);
        return realSetTimeout(callback);
      }) as typeof setTimeout);
    });
    afterEach(() => void vi.restoreAllMocks());

    it('retries for about 30 seconds before it throws', async () => {
      const upsert = vi.spyOn(store, 'upsert').mockRejectedValue(refused);
      await expect(run([guide('One.')])).rejects.toThrow('ECONNREFUSED');
      expect(upsert).toHaveBeenCalledTimes(7);
      expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000]);
    });

    it('stops waiting when the signal aborts', async () => {
      const stop = new AbortController();
      const reason = new Error('stopped');
      const listIndexes = vi.spyOn(store, 'listIndexes').mockRejectedValue(refused);
      vi.mocked(globalThis.setTimeout).mockImplementation(((_callback: () => void) => {
        queueMicrotask(() => stop.abort(reason));
        return undefined;
      }) as unknown as typeof setTimeout);
      await expect(run([guide('One.')], { signal: stop.signal })).rejects.toBe(reason);
      expect(listIndexes).toHaveBeenCalledTimes(1);
    });
  });

  it('knows the chunks of one source though its documents come far apart, as the pages of a file may', async () => {
    const page = (n: number): MDocument => MDocument.fromText(`Page ${n}.`, { source: 'book.pdf', page: n });
    const pages = [page(1), guide('Between.', 'a.md'), page(2), guide('After.', 'b.md'), page(3)];
    await run(pages, { batchSize: 1 });
    expect(await run(pages, { batchSize: 1 })).toMatchObject({ unchanged: 5, removed: 0 });
    expect(await run([page(1), page(3)], { batchSize: 1 })).toMatchObject({ unchanged: 2, removed: 1 });
    expect(await stored()).toEqual(['After.', 'Between.', 'Page 1.', 'Page 3.']);
  });

  it('leaves alone what others stored under the same source', async () => {
    await run([guide('One.')]);
    const vectors = await lexical.embed(['By hand.']);
    const metadata = [{ source: 'guide.md' }];
    await store.upsert({ indexName, ids: ['mine'], vectors, metadata, documents: ['By hand.'] });
    expect(await run([guide('Two.')])).toMatchObject({ added: 1, removed: 1 });
    expect(await stored()).toEqual(['By hand.', 'Two.']);
  });

  it('asks the store only about the chunks it was given, and about their sources', async () => {
    await run([guide('One.', 'a.md'), guide('Two.', 'b.md')]);
    const get = vi.spyOn(store, 'get');
    const scan = vi.spyOn(store, 'listVectors');
    await run([guide('One more.', 'a.md')]);
    expect(get.mock.calls.flatMap(([{ ids }]) => ids)).toHaveLength(1);
    expect(scan.mock.calls.at(-1)?.[0]).toMatchObject({ filter: { source: { $in: ['a.md'] } } });
  });

  it('keeps the old chunks when embedding the new ones fails', async () => {
    await run([guide('Old text.')]);
    embed.mockRejectedValueOnce(new Error('quota exceeded'));
    await expect(run([guide('New text.')])).rejects.toThrow('quota exceeded');
    expect(await stored()).toEqual(['Old text.']);
  });
});

/** Runs a program next to this file, on the sources. */
function start(
  program: string,
  nodeOptions: string[],
  ...programArguments: string[]
): ChildProcessByStdio<null, Readable, null> {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const hooks = new URL('../../../../scripts/source-hooks.mjs', import.meta.url).href;
  const options = ['--conditions=@quiver/source', '--import', hooks, ...nodeOptions];
  return spawn(process.execPath, [...options, file, ...programArguments], { stdio: ['ignore', 'pipe', 'inherit'] });
}

describe('a process', () => {
  it('resumes a run that was killed: it leaves an index from which the next run resumes', async () => {
    const path = await newFolder();
    const child = start('killed-ingest.fixture.ts', [], path);
    let batches = 0;
    for await (const text of child.stdout.setEncoding('utf8')) {
      if ((batches += (text as string).split('\n').length - 1) >= 5) break;
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    await using durable = new LocalVector({ path });
    const texts = Array.from({ length: 1000 }, (_, n) => MDocument.fromText(`Text ${n}.`, { source: `${n}.txt` }));
    const small = createLexicalEmbedder({ dimension: 64 });
    const resume = { vectorStore: durable, model: small, cleanup: 'all' } as const;
    const report = await run(texts, resume);
    expect(report.unchanged).toBeGreaterThanOrEqual(250);
    expect(report.unchanged + report.added).toBe(1000);
    expect(await run(texts, resume)).toMatchObject({ unchanged: 1000, removed: 0 });
  });

  it('needs at most 32 MB of heap for 50,000 chunks with 50 MB of text', async () => {
    const child = start('streamed-ingest.fixture.ts', ['--max-old-space-size=32']);
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(output).toBe('50000');
  });
});
