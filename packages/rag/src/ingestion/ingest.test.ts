import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import { LocalVector } from '../stores/local/index.js';
import { ingest, type IngestOptions } from './ingest.js';

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
  ingest({ documents, store, indexName, embedder, ...options });
const embedded = (): string[] => embed.mock.calls.flatMap(([texts]) => [...texts]);
const stored = async (): Promise<string[]> =>
  (await store.scan({ indexName })).records.map(({ document }) => document ?? '').toSorted();

describe('ingest', () => {
  it('creates the index and stores every chunk with its text, place and source', async () => {
    const report = await run([guide('# Coats\n\nWarm ones.\n\n## Winter\n\nBelow five degrees.')]);
    expect(report).toEqual({ documents: 1, added: 2, moved: 0, unchanged: 0, removed: 0 });
    const { records } = await store.scan({ indexName, filter: { startIndex: { $gt: 0 } } });
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
    for (const { document, metadata } of (await store.scan({ indexName })).records) {
      expect(text.slice(metadata['startIndex'], metadata['endIndex'])).toBe(document);
    }
  });

  it('embeds a section again when a heading above it changed', async () => {
    await run([guide('# Old\n\nIntro.\n\n## Same\n\nText.')]);
    embed.mockClear();
    await run([guide('# New\n\nIntro.\n\n## Same\n\nText.')]);
    expect(embedded()).toContain('New › Same\n\n## Same\n\nText.');
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

  it('refuses an embedder other than the one that made the index, of whatever dimension, and changes nothing', async () => {
    await run([guide('One.')]);
    const others = [{ ...embedder, id: 'another-model' }, createLexicalEmbedder({ dimension: 64 })];
    for (const other of others) {
      await expect(run([guide('Two.')], { embedder: other, cleanup: 'all' })).rejects.toMatchObject({
        code: 'INGEST_EMBEDDER_CHANGED',
        message: expect.stringContaining(other.id),
      });
    }
    expect(await stored()).toEqual(['One.']);
  });

  it('refuses metadata that it would overwrite', async () => {
    const document = MDocument.fromText('One.', { embedder: 'mine' });
    await expect(run([document])).rejects.toMatchObject({ code: 'INGEST_METADATA_RESERVED' });
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

  it('can be aborted, keeps what is stored, and goes on from there', async () => {
    const documents = Array.from({ length: 20 }, (_, n) => guide(`Text number ${n}.`, `${n}.md`));
    const controller = new AbortController();
    embed.mockImplementation((texts, options) => {
      if (embed.mock.calls.length === 3) controller.abort(new Error('stopped by the user'));
      return lexical.embed(texts, options);
    });
    await expect(run(documents, { batchSize: 4, signal: controller.signal })).rejects.toThrow('stopped by the user');
    const before = (await stored()).length;
    expect(before).toBeGreaterThanOrEqual(8);
    expect(await run(documents)).toMatchObject({ unchanged: before, added: 20 - before });
  });

  it('keeps the old chunks when embedding the new ones fails', async () => {
    await run([guide('Old text.')]);
    embed.mockRejectedValueOnce(new Error('quota exceeded'));
    await expect(run([guide('New text.')])).rejects.toThrow('quota exceeded');
    expect(await stored()).toEqual(['Old text.']);
  });
});
