import { beforeEach, describe, expect, it } from 'vitest';
import { MDocument } from '../document/document.js';
import type { EmbeddingUsage } from '../embedding/embedder.js';
import { createLexicalEmbedder, type CustomEmbedder } from '../embedding/index.js';
import { mostTokens } from '../embedding/input-tokens.js';
import { queryChunks } from '../search/find-passages.js';
import type { VectorRecord } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import { ingest, type IngestReport, type IngestOptions } from './ingest.js';

const indexName = 'manual';
const lexical = createLexicalEmbedder();
let store: LocalVector;
let embedded: string[];

beforeEach(() => {
  store = new LocalVector();
  embedded = [];
});

const embedder = (maxInputTokens?: number): CustomEmbedder => ({
  id: 'sees-all',
  maxInputTokens,
  embed(texts, options) {
    if (options?.purpose === 'document') embedded.push(...texts);
    return lexical.embed(texts, options);
  },
});
/** A section about locks that ends with a sentence about herons. */
const filler = Array.from({ length: 40 }, (_, n) => `Lock number ${n} protects the shelf ${n} of the store.`);
const text = `# Manual\n\n## Locks\n\n${filler.join(' ')} Herons breed in tall trees near quiet lakes.`;
const documents = (more = {}): MDocument[] => [
  MDocument.fromMarkdown(text, { source: 'manual.md', ...more }),
  MDocument.fromMarkdown('# Other\n\nA short text about disks.', { source: 'other.md' }),
];
/** The text is one chunk, which the embedder cannot read as a whole. */
const chunkOptions = { maxSize: 4000 };
const run = (maxInputTokens?: number, options: Partial<IngestOptions> = {}): Promise<IngestReport> =>
  ingest({
    documents: documents(),
    vectorStore: store,
    indexName,
    model: embedder(maxInputTokens),
    chunkOptions,
    ...options,
  });
const records = async (): Promise<VectorRecord[]> => (await store.listVectors({ indexName })).records;
const windowsOf = async (): Promise<VectorRecord[]> =>
  (await records()).filter(({ metadata }) => metadata['vectorOf'] !== undefined);

describe('ingest with an embedder that states how much it reads', () => {
  it('embeds a long chunk in parts that overlap, each below its headings and within the limit', async () => {
    const { added } = await run(200);
    expect(embedded).toHaveLength(added);
    const parts = embedded.filter((part) => part.startsWith('Manual › Locks\n\n'));
    expect(parts.length).toBeGreaterThan(3);
    for (const part of embedded) expect(mostTokens(part)).toBeLessThanOrEqual(200);
    const bodies = parts.map((part) => part.slice('Manual › Locks\n\n'.length));
    for (const sentence of filler) expect(bodies.some((body) => body.includes(sentence))).toBe(true);
    expect(bodies.join('').length).toBeGreaterThan(filler.join(' ').length * 1.05);
  });

  it('keeps the text of the chunk whole, and finds it by the best of its parts', async () => {
    await run(200);
    const [queryVector = []] = await lexical.embed(['herons breeding in trees'], { purpose: 'query' });
    const [first, ...others] = await queryChunks(store, { indexName, queryVector, topK: 5 });
    expect(first?.document).toContain(filler.join(' '));
    expect(others.map(({ metadata }) => metadata['source'])).toEqual(['other.md']);
    const whole = new LocalVector();
    await ingest({ documents: documents(), vectorStore: whole, indexName, model: embedder(), chunkOptions });
    const [undivided] = await queryChunks(whole, { indexName, queryVector, topK: 1 });
    expect(first?.score).toBeGreaterThan(1.5 * (undivided?.score ?? 0));
  });

  it('keeps the parts out of keyword search, also where the metadata hold a text', async () => {
    await run(200, { documents: documents({ text: 'herons', tenant: 'a' }) });
    const windows = await windowsOf();
    expect(windows.length).toBeGreaterThan(2);
    expect(windows.every(({ document, metadata }) => !document && metadata['tenant'] === 'a')).toBe(true);
    const found = await store.query({ indexName, mode: 'keyword', queryText: 'herons lock', topK: 50 });
    expect(found.map(({ metadata }) => metadata['vectorOf'])).toEqual([undefined]);
  });

  it('changes nothing for an embedder without a limit, and for chunks within it', async () => {
    await run();
    const before = await records();
    expect(before).toHaveLength(2);
    await run(100_000);
    expect(await records()).toEqual(before);
  });

  it('embeds nothing the second time, and removes the parts of changed and deleted chunks', async () => {
    const { added } = await run(200);
    embedded = [];
    expect(await run(200)).toMatchObject({ added: 0, moved: 0, unchanged: added, removed: 0 });
    expect(embedded).toEqual([]);
    await run(200, { documents: [MDocument.fromMarkdown('# Manual\n\nShort.', { source: 'manual.md' })] });
    expect(await windowsOf()).toEqual([]);
  });

  it('adds the parts to an index that was made without a limit', async () => {
    await run();
    expect(await run(200)).toMatchObject({ unchanged: 2, removed: 0 });
    expect((await windowsOf()).length).toBeGreaterThan(2);
  });

  it('splits the texts of further vectors too, whose text keyword search still finds', async () => {
    const question = `Which locks? ${filler.slice(0, 20).join(' ')} And what of ospreys?`;
    await run(200, { vectors: ({ metadata }) => (metadata['source'] === 'manual.md' ? [question] : []) });
    const chunk = (await records()).find(({ document }) => document?.includes('Herons'));
    expect((await windowsOf()).every(({ metadata }) => metadata['vectorOf'] === chunk?.id)).toBe(true);
    expect(embedded.some((part) => part.endsWith('And what of ospreys?') && part !== question)).toBe(true);
    expect(await store.query({ indexName, mode: 'keyword', queryText: 'ospreys' })).toHaveLength(1);
  });

  it('leaves out headings that take more than half of what the embedder reads', async () => {
    const long = `# ${'A very long heading about everything. '.repeat(8)}\n\n${filler.join(' ')}`;
    await run(100, { documents: [MDocument.fromMarkdown(long, { source: 'a.md' })] });
    for (const part of embedded) expect(mostTokens(part)).toBeLessThanOrEqual(100);
  });

  it('states the number of vectors in a dry run', async () => {
    const { estimate } = await run(200, { dryRun: true });
    expect(embedded).toEqual([]);
    expect(await run(200)).toMatchObject({ added: estimate?.texts });
    expect(estimate?.texts).toBeGreaterThan(4);
  });

  it('reports texts that the embedder cut', async () => {
    const usage: { -readonly [Key in keyof EmbeddingUsage]: EmbeddingUsage[Key] } = { requests: 0, tokens: 0, cut: 5 };
    const cutting: CustomEmbedder = {
      ...embedder(),
      usage,
      embed(texts, options) {
        usage.cut = (usage.cut ?? 0) + texts.filter((part) => part.length > 500).length;
        return lexical.embed(texts, options);
      },
    };
    expect(
      await ingest({ documents: documents(), vectorStore: store, indexName, model: cutting, chunkOptions }),
    ).toMatchObject({
      cut: 1,
    });
    expect(
      await ingest({ documents: documents(), vectorStore: store, indexName, model: cutting, chunkOptions }),
    ).not.toHaveProperty('cut');
  });
});
