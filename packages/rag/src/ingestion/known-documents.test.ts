import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MDocument } from '../document/document.js';
import type { LanguageModelInput } from '../document/extract/extract-options.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { LocalVector } from '../stores/local/index.js';
import { deleteDocuments } from './delete-documents.js';
import { ingest, type IngestSettings, type IngestReport } from './ingest.js';

const indexName = 'docs';
const embedder = createLexicalEmbedder();
const guide = (text: string, source: unknown = 'guide.md'): MDocument => MDocument.fromMarkdown(text, { source });
const twoSections = '# A\n\nOne.\n\n# B\n\nTwo.';

describe('documents that are known to be stored', () => {
  let path: string;
  let store: LocalVector;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'quiver-known-'));
    store = new LocalVector({ path });
  });
  afterEach(async () => {
    await store.close();
    await rm(path, { recursive: true, force: true });
  });

  /** Runs, and returns the report with how many chunks were read to compare them. */
  async function run(
    documents: MDocument[],
    options: Partial<IngestSettings> = {},
  ): Promise<IngestReport & { compared: number }> {
    const get = vi.spyOn(store, 'get');
    const report = await ingest({ documents, store, indexName, embedder, ...options });
    const compared = get.mock.calls.reduce((sum, [{ ids }]) => sum + ids.length, 0);
    get.mockRestore();
    return { ...report, compared };
  }
  const texts = async (): Promise<string[]> =>
    (await store.scan({ indexName })).records.map(({ document }) => document ?? '').toSorted();

  it('are neither compared nor removed in the next run, and are reported', async () => {
    const documents = (): MDocument[] => [guide(twoSections), guide('Other.', 'other.md')];
    await run(documents());
    const scan = vi.spyOn(store, 'scan');
    for (const cleanup of ['source', 'all', 'none'] as const) {
      const report = await run(documents(), { cleanup });
      expect(report).toEqual({ documents: 2, added: 0, moved: 0, unchanged: 3, removed: 0, compared: 0 });
    }
    // One call each compares the embedder.
    expect(scan).toHaveBeenCalledTimes(3);
    scan.mockRestore();
    expect(await texts()).toHaveLength(3);
  });

  it('stay known while other documents change', async () => {
    await run([guide(twoSections), guide('Other.', 'other.md')]);
    await run([guide('Another.', 'other.md')], { cleanup: 'none' });
    expect(await run([guide(twoSections)])).toMatchObject({ unchanged: 2, compared: 0 });
    // The run above has removed nothing: the old text is stale.
    expect(await run([guide(twoSections), guide('Another.', 'other.md')])).toMatchObject({ removed: 1 });
    expect(await texts()).toEqual(['# A\n\nOne.', '# B\n\nTwo.', 'Another.']);
  });

  it.each([
    [
      'a record was deleted',
      async () => store.deleteVectors({ indexName, filter: { startIndex: 0 } }),
      { added: 1, unchanged: 1 },
    ],
    ['a document was deleted', async () => deleteDocuments({ store, indexName, sources: ['guide.md'] }), { added: 2 }],
    [
      'the metadata of a record changed',
      async () => store.updateVector({ indexName, filter: { startIndex: 0 }, update: { metadata: { startIndex: 7 } } }),
      { added: 1, unchanged: 1 },
    ],
    ['the index was emptied', async () => store.truncateIndex({ indexName }), { added: 2 }],
    ['the index was deleted', async () => store.deleteIndex({ indexName }), { added: 2 }],
  ])('are compared again after %s', async (_what, change, expected) => {
    await run([guide(twoSections)]);
    await change();
    expect(await run([guide(twoSections)])).toMatchObject(expected);
    expect(await texts()).toEqual(['# A\n\nOne.', '# B\n\nTwo.']);
  });

  it('are compared again after a record was deleted during the run', async () => {
    await run([guide(twoSections)], {
      onProgress: () => {
        void store.deleteVectors({ indexName, filter: { startIndex: 0 } });
      },
    });
    await run([guide(twoSections)]);
    expect(await texts()).toEqual(['# A\n\nOne.', '# B\n\nTwo.']);
  });

  it('are compared again after a record was changed during a run that changed nothing', async () => {
    await run([guide(twoSections)]);
    const documents = async function* (): AsyncGenerator<MDocument> {
      yield guide(twoSections);
      await store.updateVector({ indexName, filter: { startIndex: 0 }, update: { metadata: { startIndex: 7 } } });
    };
    await ingest({ documents: documents(), store, indexName, embedder });
    const report = await run([guide(twoSections)]);
    expect(report.compared).toBeGreaterThan(0);
  });

  it('are compared again after another run has replaced one of them during the run', async () => {
    const others = (): MDocument[] => ['b', 'c', 'd'].map((source) => guide(`Text ${source}.`, source));
    await run(others());
    const documents = async function* (): AsyncGenerator<MDocument> {
      const [first, ...rest] = others() as [MDocument, ...MDocument[]];
      yield guide('Own.');
      yield first;
      // The batch of the first document is stored.
      await run([guide('By another.')]);
      yield* rest;
    };
    await ingest({ documents: documents(), store, indexName, embedder, batchSize: 1, concurrency: 1 });
    await run([guide('Own.'), ...others()]);
    expect(await texts()).toEqual(['Own.', 'Text b.', 'Text c.', 'Text d.']);
  });

  it.each<[string, Partial<IngestSettings>]>([
    ['chunking options', { chunkOptions: { strategy: 'markdown', maxSize: 12, overlap: 0 } }],
    ['a function that the chunks depend on', { vectors: () => [] }],
    ['a scope', { scope: { tenant: 'b' } }],
  ])('are compared with other settings: %s', async (_what, options) => {
    await run([guide(twoSections)]);
    const { compared } = await run([guide(twoSections)], options);
    expect(compared).toBeGreaterThan(0);
  });

  it('are those of one scope', async () => {
    for (const tenant of ['a', 'b']) await run([guide(twoSections)], { scope: { tenant } });
    expect(await run([guide(twoSections)], { scope: { tenant: 'b' } })).toMatchObject({ unchanged: 2, compared: 0 });
    // The other scope has changed the index, and all chunks are there.
    expect(await run([guide(twoSections)], { scope: { tenant: 'a' } })).toMatchObject({ unchanged: 2, added: 0 });
    expect(await texts()).toHaveLength(4);
  });

  it('keep their chunks when another document of their source changes or disappears', async () => {
    const [first, second] = [guide('First.'), guide('Second.')];
    await run([first, second]);
    expect(await run([first, guide('Third.')])).toMatchObject({ added: 1, removed: 1, unchanged: 1 });
    expect(await texts()).toEqual(['First.', 'Third.']);
    expect(await run([first])).toMatchObject({ removed: 1, unchanged: 1 });
    expect(await texts()).toEqual(['First.']);
  });

  it('do not hide stale chunks of a run that removed nothing', async () => {
    await run([guide('Old.')]);
    await run([guide('New.')], { cleanup: 'none' });
    expect(await texts()).toEqual(['New.', 'Old.']);
    expect(await run([guide('New.')])).toMatchObject({ unchanged: 1, removed: 1 });
    expect(await texts()).toEqual(['New.']);
  });

  it('do not hide documents that a mirror no longer contains', async () => {
    await run([guide('One.', 'a.md'), guide('Two.', 'b.md')]);
    expect(await run([guide('One.', 'a.md')])).toMatchObject({ removed: 0 });
    expect(await run([guide('One.', 'a.md')], { cleanup: 'all' })).toMatchObject({ removed: 1 });
    expect(await run([guide('One.', 'a.md')], { cleanup: 'all' })).toMatchObject({ removed: 0, compared: 0 });
    expect(await texts()).toEqual(['One.']);
  });

  it('are compared again when only their metadata changed', async () => {
    await run([MDocument.fromText('Text.', { source: 'a', year: 2024 })]);
    expect(await run([MDocument.fromText('Text.', { source: 'a', year: 2025 })])).toMatchObject({
      added: 1,
      removed: 1,
    });
  });

  it('are compared again when another document has one of their chunks', async () => {
    const [whole, part] = [guide(twoSections), guide('# B\n\nTwo.')];
    const places = async (): Promise<unknown[]> =>
      (await store.scan({ indexName })).records.map(({ metadata }) => [metadata['startIndex'], metadata['textBefore']]);
    await run([whole, part]);
    expect(await run([whole, part])).toMatchObject({ unchanged: 2, moved: 0 });
    expect(await run([part])).toMatchObject({ moved: 1, removed: 1 });
    expect(await places()).toEqual([[0, undefined]]);
    expect(await run([part])).toMatchObject({ unchanged: 1, compared: 0 });
    await run([whole, part]);
    await run([part, whole]);
    expect(await places()).toContainEqual([0, undefined]);
    expect(await run([whole])).toMatchObject({ moved: 1 });
  });

  it('are compared again in a run without them that moved one of their chunks', async () => {
    const [whole, part] = [MDocument.fromMarkdown(twoSections), MDocument.fromMarkdown('# B\n\nTwo.')];
    await run([whole]);
    expect(await run([part])).toMatchObject({ moved: 1 });
    expect(await run([whole])).toMatchObject({ moved: 1, unchanged: 1 });
  });

  it('are compared again after a model has failed', async () => {
    let answer = '';
    const llm = {
      specificationVersion: 'v3',
      provider: 'test',
      modelId: 'test',
      supportedUrls: {},
      doGenerate: async () => {
        if (answer === '') throw new Error('refused');
        const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
        return { content: [{ type: 'text', text: answer }], finishReason: { unified: 'stop' }, usage, warnings: [] };
      },
    } as unknown as LanguageModelInput;
    const extract = { questions: true, llm, onFailure: () => undefined };
    const options = { chunkOptions: { extract }, vectors: ['questions'] } satisfies Partial<IngestSettings>;
    const documents = [guide('Text.'), guide('Other.', 'other.md')];
    await run(documents, options);
    await run(documents, options);
    expect(await texts()).toEqual(['Other.', 'Text.']);
    answer = 'Why?';
    await run(documents, { ...options, cleanup: 'all' });
    expect(await texts()).toEqual(['Other.', 'Text.', 'Why?', 'Why?']);
    expect(await run(documents, options)).toMatchObject({ unchanged: 4, compared: 0 });
  });

  it('are compared again when only the places on their pages changed', async () => {
    const page = (left?: number): MDocument => {
      const places = left === undefined ? [] : [{ start: 0, end: 5, page: 1, box: [left, 0, 50, 10] as const }];
      return new MDocument({ text: 'Text.', metadata: { source: 'a.pdf' }, places });
    };
    await run([page()]);
    for (const left of [1, 2]) {
      expect(await run([page(left)])).toMatchObject({ moved: 1 });
      expect((await store.scan({ indexName })).records).toMatchObject([{ metadata: { box: [left, 0, 50, 10] } }]);
    }
  });
});

it('compares all documents in a store without derived data', async () => {
  const store = new LocalVector();
  const get = vi.spyOn(store, 'get');
  const run = (): Promise<IngestReport> => ingest({ documents: [guide(twoSections)], store, indexName, embedder });
  expect(await run()).toMatchObject({ added: 2 });
  expect(await run()).toMatchObject({ unchanged: 2 });
  expect(get).toHaveBeenCalledTimes(1);
});

it('completes a run whose store cannot use derived data', async () => {
  const path = await mkdtemp(join(tmpdir(), 'quiver-known-'));
  try {
    await using store = new LocalVector({ path });
    if (!store.derived) throw new Error('The store has no derived data.');
    for (const method of ['read', 'write'] as const)
      vi.spyOn(store.derived, method).mockRejectedValue(new Error('permission denied'));
    const run = (): Promise<IngestReport> => ingest({ documents: [guide(twoSections)], store, indexName, embedder });
    expect(await run()).toMatchObject({ added: 2 });
    expect(await run()).toMatchObject({ unchanged: 2 });
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});

it('finds known documents in another process, and compares all where their list is damaged', async () => {
  const path = await mkdtemp(join(tmpdir(), 'quiver-known-'));
  try {
    const run = async (): Promise<number> => {
      await using store = new LocalVector({ path });
      const get = vi.spyOn(store, 'get');
      await ingest({ documents: [guide(twoSections)], store, indexName, embedder });
      return get.mock.calls.length;
    };
    await run();
    expect(await run()).toBe(0);
    for (const damaged of [
      '',
      'null',
      '{"documents":',
      '{"documents":[]}',
      '{"version":"x","documents":{}}',
      '[null]',
      '[{}]',
      '[{"ids":[]}]',
    ]) {
      await using store = new LocalVector({ path });
      const version = await store.version({ indexName });
      // The version of the index, as another version of the package could write it.
      const text = damaged.startsWith('[')
        ? JSON.stringify({ version, cleanup: 'all', documents: JSON.parse(damaged) })
        : damaged;
      const data = new TextEncoder().encode(text);
      await store.derived?.write({ indexName, name: 'ingest', data });
      expect(await run()).toBe(1);
      expect(await run()).toBe(0);
    }
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});
