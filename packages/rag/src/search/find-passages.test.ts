import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import { deleteDocuments } from '../ingest/delete-documents.js';
import { ingest, type IngestOptions, type IngestReport } from '../ingest/ingest.js';
import { modelThatSays } from '../llm.fixture.js';
import { retrieve } from '../retrieve/retrieve.js';
import type { IndexParams, QueryMode, VectorRecord } from '../store/index.js';
import type { OpenIndex } from '../store/record-store.js';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool } from '../tools/graph-rag-tool.js';
import { createVectorQueryTool } from '../tools/vector-query-tool.js';
import { callTool, inContext } from '../tools/call-tool.fixture.js';
import { queryChunks } from './find-passages.js';

const indexName = 'manual';
const lexical = createLexicalEmbedder({ dimension: 256 });
let store: LocalVector;
let embed: ReturnType<typeof vi.fn<Embedder['embed']>>;
let embedder: Embedder;

beforeEach(() => {
  store = new LocalVector();
  embed = vi.fn<Embedder['embed']>((texts, options) => lexical.embed(texts, options));
  embedder = { ...lexical, embed };
});

const topics = ['locks', 'disks', 'snapshots', 'users'];
const manual = (text = ''): MDocument[] =>
  topics.map((topic) => MDocument.fromMarkdown(`# ${topic}\n\nFacts on ${topic}.${text}`, { source: `${topic}.md` }));
/** Questions that share no term with their chunk. */
const questions = (topic: string): string[] =>
  [1, 2, 3].map((n) => `Which ${topic.slice(0, 3)}-thing has number ${n}?`);
const topicOf = ({ metadata }: { metadata: Record<string, unknown> }): string =>
  String(metadata['source']).replace('.md', '');
const run = (options: Partial<IngestOptions> = {}): Promise<IngestReport> =>
  ingest({
    documents: manual(),
    vectorStore: store,
    indexName,
    model: embedder,
    vectors: (chunk) => questions(topicOf(chunk)),
    ...options,
  });
const records = async (): Promise<VectorRecord[]> => (await store.listVectors({ indexName })).records;
const embedded = (): string[] => embed.mock.calls.flatMap(([texts]) => [...texts]);
const search = async (text: string, options: object = {}): Promise<Awaited<ReturnType<typeof queryChunks>>> => {
  const [queryVector = []] = await lexical.embed([text], { purpose: 'query' });
  return queryChunks(store, { indexName, queryVector, topK: 2, ...options });
};

describe('ingest with further vectors', () => {
  it('stores them as records that name their chunk, have its metadata, and are embedded without its headings', async () => {
    expect(await run({ scope: { tenant: 'a' } })).toMatchObject({ added: 16 });
    const chunk = (await records()).find(({ document }) => document?.includes('Facts on locks'));
    const further = (await records()).filter(({ metadata }) => metadata['vectorOf'] === chunk?.id);
    expect(further.map(({ document }) => document).toSorted()).toEqual(questions('locks'));
    const { previousChunk: _previous, ...metadata } = chunk?.metadata ?? {};
    expect(further[0]?.metadata).toEqual({ ...metadata, vectorOf: chunk?.id });
    expect(embedded()).toEqual(expect.arrayContaining(['Which loc-thing has number 1?']));
  });

  it('embeds nothing the second time, and removes the vectors of changed chunks', async () => {
    await run();
    embed.mockClear();
    expect(await run()).toEqual({ documents: 4, added: 0, moved: 0, unchanged: 16, removed: 0 });
    expect(embed).not.toHaveBeenCalled();
    expect(await run({ documents: manual(' Changed.') })).toMatchObject({ added: 16, removed: 16 });
    expect(await records()).toHaveLength(16);
  });

  it('removes them with their document, and when they are no longer wanted', async () => {
    await run();
    await deleteDocuments({ vectorStore: store, indexName, sources: ['locks.md'] });
    expect(await records()).toHaveLength(12);
    expect(await run({ vectors: undefined as never })).toMatchObject({ added: 1, unchanged: 3, removed: 9 });
  });

  it('takes them from the extractors, and calls the model for new and changed documents only', async () => {
    const llm = modelThatSays((prompt) =>
      prompt.includes('Summarise') ? 'In short: a summary.' : '1. What is asked first?\n- What is asked second?\n\n',
    );
    const documents = manual();
    const extracting = { chunkOptions: { extract: { llm, questions: true, summary: true } } } as const;
    // Chunks without questions get them.
    await run({ documents, vectors: undefined as never });
    const options = { ...extracting, documents, vectors: ['questions', 'summary'] as const };
    expect(await run(options)).toMatchObject({ added: 12, moved: 4 });
    expect(llm.doGenerateCalls).toHaveLength(8);
    const further = (await records()).find(({ document }) => document === 'What is asked first?');
    expect(further?.metadata).not.toHaveProperty('questionsThisExcerptCanAnswer');
    embed.mockClear();
    expect(await run(options)).toMatchObject({ added: 0, moved: 0, unchanged: 16, removed: 0 });
    expect(embed).not.toHaveBeenCalled();
    expect(llm.doGenerateCalls).toHaveLength(8);
    // As after a run that was killed between a chunk and its vectors.
    await store.deleteVectors({ indexName, ids: [further?.id ?? ''] });
    expect(await run(options)).toMatchObject({ added: 1, unchanged: 15 });
    expect(llm.doGenerateCalls).toHaveLength(8);
  });

  it.each([
    ['an unknown name', ['titles']],
    ['a name without its extractor', ['questions']],
    ['a text', 'questions'],
    ['a function that returns no list', () => 'one'],
    ['a function that returns no texts', () => [1]],
  ])('rejects %s', async (_what, vectors) => {
    await expect(run({ vectors: vectors as never })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  });
});

describe('queryChunks', () => {
  it('finds a chunk by its best vector, and counts chunks', async () => {
    await run();
    const matches = await search('Which dis-thing has number 2?', { topK: 4 });
    expect(matches.map(topicOf)[0]).toBe('disks');
    expect(matches[0]?.score).toBeGreaterThan(0.99);
    expect(matches.map(({ document }) => document)).toEqual(
      matches.map((match) => expect.stringContaining(topicOf(match))),
    );
    expect(new Set(matches.map(({ id }) => id)).size).toBe(4);
    expect(matches.every(({ metadata }) => metadata['vectorOf'] === undefined)).toBe(true);
  });

  it('leaves out chunks that were deleted, or that do not match the filter', async () => {
    await run();
    const all = await records();
    const [locks, disks] = ['locks', 'disks'].map((topic) =>
      all.find(({ document }) => document?.includes(`on ${topic}`)),
    );
    await store.deleteVectors({ indexName, ids: [locks?.id ?? ''] });
    expect((await search('Which loc-thing has number 1?')).map(topicOf)).not.toContain('locks');
    await store.updateVector({ indexName, id: disks?.id ?? '', update: { metadata: { secret: true } } });
    const filter = { secret: { $exists: false } };
    expect((await search('Which dis-thing has number 1?', { filter })).map(topicOf)).not.toContain('disks');
  });

  it('works with mmr, vectors, and without further vectors', async () => {
    await run();
    const matches = await search('Which loc-thing has number 1?', {
      mmr: { candidates: 2 },
      includeVector: true,
    });
    expect(matches).toHaveLength(2);
    expect(matches[0]?.vector).toHaveLength(256);
    await run({ vectors: undefined as never });
    expect(await search('Facts on locks')).toMatchObject([{ document: expect.stringContaining('locks') }, {}]);
  });
});

describe('query tools over further vectors', () => {
  it.each(['vector', 'keyword', 'hybrid'] as const)('return chunks in the mode %s', async (mode) => {
    await run();
    const tool = createVectorQueryTool({ vectorStore: store, indexName, model: embedder, mode, expand: { after: 1 } });
    const { sources } = await callTool(tool, { queryText: 'Which use-thing has number 3?', topK: 2 });
    expect(sources).toHaveLength(2);
    expect(sources[0]?.document).toContain('Facts on users');
  });

  it('return chunks of a graph', async () => {
    await run();
    const tool = createGraphRAGTool({ vectorStore: store, indexName, model: embedder });
    const { sources } = await callTool(tool, { queryText: 'Which use-thing has number 3?', topK: 5 });
    expect(sources[0]).toMatchObject({ document: expect.stringContaining('Facts on users'), path: [] });
    expect(sources).toHaveLength(4);
    expect(new Set(sources.map(({ id }) => id)).size).toBe(sources.length);
  });
});

describe('the mode filter of createVectorQueryTool', () => {
  const list = createVectorQueryTool({
    vectorStore: () => store,
    indexName,
    mode: 'filter',
    filterFields: { source: 'path of the document', tenant: 'owner of the document' },
  });

  it('lists the records that match, page by page, without a query and without further vectors', async () => {
    await run();
    embed.mockClear();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const input = { filter: { source: { $ne: 'disks.md' } }, topK: 2, ...(cursor !== undefined && { cursor }) };
      const page = await callTool(list, input);
      expect(page.sources.every(({ score }) => score === 1)).toBe(true);
      seen.push(...page.sources.map(topicOf));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(['locks', 'snapshots', 'users']);
    expect(embed).not.toHaveBeenCalled();
  });

  it('applies the filter of the application as well, and has an id and inputs of its own', async () => {
    await run({ scope: { tenant: 'a' } });
    await run({ scope: { tenant: 'b' } });
    const context = inContext({ filter: { tenant: 'a' } });
    const { sources } = await callTool(list, { filter: { tenant: 'b' } }, context);
    expect(sources).toEqual([]);
    const all = await callTool(list, {}, context);
    expect(all.sources.map(({ metadata }) => metadata['tenant'])).toEqual(['a', 'a', 'a', 'a']);
    expect(list).toMatchObject({ id: 'VectorFilter DirectVectorStore manual Tool' });
    expect(list.inputSchema).toMatchObject({ required: [], properties: { filter: {}, cursor: {} } });
  });

  it('does not accept a filter of the model when it is disabled', async () => {
    await run();
    const fixed = createVectorQueryTool({ vectorStore: store, indexName, mode: 'filter', enableFilter: false });
    expect(await fixed.execute({ filter: { source: 'locks.md' } })).toMatchObject({ error: true });
    await expect(callTool(list, { filter: { source: { $above: 1 } } })).rejects.toMatchObject({
      code: 'FILTER_INVALID',
    });
  });
});

/** Counts what searches read: ids and relevances of the lists, and records with texts. */
class CountingVector extends LocalVector {
  readonly reads = { ids: 0, texts: 0 };

  protected override use<Result>(params: IndexParams, work: (index: OpenIndex) => Promise<Result>): Promise<Result> {
    return super.use(params, (index) =>
      work({
        ...index,
        nearest: async (...search) => this.#countIds(await index.nearest(...search)),
        byTerms: async (...search) => this.#countIds((await index.byTerms?.(...search)) ?? []),
        copyFound: (match) => {
          this.reads.texts += 1;
          return index.copyFound?.(match) ?? match;
        },
      }),
    );
  }

  #countIds<Found extends readonly unknown[]>(found: Found): Found {
    this.reads.ids += found.length;
    return found;
  }
}

describe('depths of a search', () => {
  const scorer = { getRelevanceScore: async () => 0.5 };
  const searches: [QueryMode, number, object, { ids: number; texts: number }][] = [
    ['hybrid', 1, {}, { ids: 80, texts: 20 }],
    ['hybrid', 10, {}, { ids: 80, texts: 20 }],
    ['hybrid', 10, { reranker: { model: scorer } }, { ids: 100, texts: 50 }],
    ['hybrid', 10, { mmr: {} }, { ids: 80, texts: 40 }],
    ['keyword', 1, {}, { ids: 20, texts: 20 }],
    ['keyword', 30, {}, { ids: 40, texts: 40 }],
    ['vector', 1, {}, { ids: 11, texts: 11 }],
    ['vector', 1, { model: { ...lexical, hybridWeight: 1 } }, { ids: 40, texts: 40 }],
  ];

  it.each(searches)('%s, topK %i, %j', async (mode, topK, options, reads) => {
    const counting = new CountingVector();
    const texts = Array.from({ length: 120 }, (_, at) => `Report ${at} about locks of the harbor.`);
    await counting.createIndex({ indexName, dimension: 256 });
    const vectors = await lexical.embed(texts, { purpose: 'document' });
    await counting.upsert({ indexName, vectors, documents: texts });
    const tool = createVectorQueryTool({ vectorStore: counting, indexName, model: lexical, mode, ...options });
    const fusion = mode === 'hybrid' ? { vector: 1 } : undefined;
    const context = inContext(fusion ? { fusion } : {});
    const { sources } = await callTool(tool, { queryText: 'locks', topK }, context);
    expect(sources).toHaveLength(topK);
    expect(counting.reads).toEqual(reads);
  });

  it.each(['keyword', 'hybrid'] as const)(
    'give the same first passages for every topK, also among copies: %s',
    async (mode) => {
      const texts = Array.from({ length: 50 }, (_, at) =>
        at < 18 ? 'Locks of users.' : `Locks of users, number ${at}${' and more'.repeat(at)}.`,
      );
      await store.createIndex({ indexName, dimension: 256 });
      const vectors = await lexical.embed(texts, { purpose: 'document' });
      // The path of a source is compared in the second ranking only.
      const metadata = texts.map((_, at) => ({ source: at === 30 ? 'locks/harbors/users/a.md' : 'a.md' }));
      await store.upsert({ indexName, ids: texts.map((_, at) => `r${at}`), vectors, documents: texts, metadata });
      const firstOf = async (topK: number): Promise<string[]> => {
        const query = { question: 'locks of users in harbors', mode, fusion: { vector: 0.1 }, topK };
        return (await retrieve({ ...query, vectorStore: store, indexName, model: embedder })).matches.map(
          ({ id }) => id,
        );
      };
      const all = await firstOf(30);
      for (const topK of [1, 5, 10, 20]) expect(await firstOf(topK), String(topK)).toEqual(all.slice(0, topK));
    },
  );

  it('read more where copies of a text are too many of the records', async () => {
    const counting = new CountingVector();
    const texts = [...Array.from({ length: 60 }, () => 'Locks.'), ...topics.map((topic) => `Locks and ${topic}.`)];
    await counting.createIndex({ indexName, dimension: 256 });
    const vectors = await lexical.embed(texts, { purpose: 'document' });
    await counting.upsert({ indexName, vectors, documents: texts });
    const found = await queryChunks(counting, { indexName, queryText: 'locks', mode: 'keyword', topK: 4 });
    expect(found).toHaveLength(4);
    expect(found.map(({ metadata }) => metadata['alsoIn']?.length)).toEqual([undefined, 59, undefined, undefined]);
    expect(counting.reads.texts).toBe(14 + 56 + 64);
  });
});
