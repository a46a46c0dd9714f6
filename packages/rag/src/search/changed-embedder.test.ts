import { describe, expect, it } from 'vitest';
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder, type Embedder } from '../embedding/index.js';
import { viewGraph } from '@quiver/devtools/graph';
import { ingest } from '../ingest/ingest.js';
import { retrieve } from '../retrieve/retrieve.js';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool } from '../tools/graph-rag-tool.js';
import { createVectorQueryTool } from '../tools/vector-query-tool.js';

const indexName = 'guides';
const text = 'A lock has one owner.';
const embedder = createLexicalEmbedder({ dimension: 64 });
/** Vectors of the same length that mean something else. */
const other: Embedder = { ...embedder, id: 'other/model' };
const throwing = { onFailure: 'throw' } as const;

async function openIndex(made: Embedder = embedder): Promise<LocalVector> {
  const store = new LocalVector();
  const documents = [MDocument.fromText(text, { source: 'locks.md' })];
  await ingest({ documents, vectorStore: store, indexName, model: made });
  return store;
}

const queryText = 'Who owns a lock?';
const searches: [string, (store: LocalVector, model: Embedder) => Promise<unknown>][] = [
  ...(['vector', 'hybrid'] as const).map((mode): (typeof searches)[number] => [
    `createVectorQueryTool, ${mode}`,
    (vectorStore, model) =>
      createVectorQueryTool({ vectorStore, indexName, model, mode }).execute({ queryText }, throwing),
  ]),
  [
    'createGraphRAGTool',
    (vectorStore, model) => createGraphRAGTool({ vectorStore, indexName, model }).execute({ queryText }, throwing),
  ],
  [
    'createGraphRAGTool, vector',
    (vectorStore, model) =>
      createGraphRAGTool({ vectorStore, indexName, model, seeds: 'vector' }).execute({ queryText }, throwing),
  ],
  ['viewGraph', (store, model) => viewGraph({ vectorStore: store, indexName, model, queryText })],
  ['retrieve', (store, model) => retrieve({ vectorStore: store, indexName, model, question: queryText })],
];

describe('a query with another embedder than that of the index', () => {
  it.each(searches)('is rejected: %s', async (_name, search) => {
    const store = await openIndex();
    await expect(search(store, embedder)).resolves.toBeDefined();
    await expect(search(store, other)).rejects.toMatchObject({
      code: 'QUERY_EMBEDDER_CHANGED',
      message: expect.stringMatching(/'guides' was made with .*'quiver\/lexical-\d-64'.* 'other\/model'.* pass the/),
      details: { indexName, existing: embedder.id, requested: 'other/model' },
    });
  });

  it.each(['vector', 'hybrid'] as const)('is rejected when its vectors have another length: %s', async (mode) => {
    const vectorStore = await openIndex();
    const model: Embedder = { id: 'long/model', embed: async (texts) => texts.map(() => new Float32Array(65).fill(1)) };
    const tool = createVectorQueryTool({ vectorStore, indexName, model, mode });
    await expect(tool.execute({ queryText }, throwing)).rejects.toMatchObject({ code: 'QUERY_EMBEDDER_CHANGED' });
  });

  it('is accepted where no vector counts, and by records of other programs', async () => {
    const vectorStore = await openIndex();
    const keyword = createVectorQueryTool({ vectorStore, indexName, model: other, mode: 'keyword' });
    expect((await keyword.execute({ queryText }, throwing)).sources).toHaveLength(1);
    const graph = createGraphRAGTool({ vectorStore, indexName, model: other, seeds: 'keyword' });
    expect((await graph.execute({ queryText }, throwing)).sources).toHaveLength(1);
    const foreign = new LocalVector();
    await foreign.createIndex({ indexName, dimension: 64 });
    await foreign.upsert({ indexName, vectors: await embedder.embed([text]), documents: [text] });
    const tool = createVectorQueryTool({ vectorStore: foreign, indexName, model: other });
    expect((await tool.execute({ queryText }, throwing)).sources).toHaveLength(1);
  });
});

describe('an index that a wrong first response has created', () => {
  it('is named by queries with the call that repairs it', async () => {
    const wrong: Embedder = { id: embedder.id, embed: async (texts) => texts.map(() => new Float32Array(3).fill(1)) };
    const vectorStore = await openIndex(wrong);
    const tool = createVectorQueryTool({ vectorStore, indexName, model: embedder });
    await expect(tool.execute({ queryText }, throwing)).rejects.toMatchObject({
      code: 'VECTOR_DIMENSION_MISMATCH',
      message: expect.stringMatching(
        /although 'quiver\/lexical-\d-64' made both.*store\.deleteIndex\(\{ indexName: 'guides' \}\)/,
      ),
      details: { expected: 3, actual: 64 },
    });
    const run = ingest({
      documents: [MDocument.fromText(text, { source: 'new.md' })],
      vectorStore,
      indexName,
      model: embedder,
    });
    await expect(run).rejects.toMatchObject({
      message: expect.stringContaining("store.deleteIndex({ indexName: 'guides' })"),
    });
  });
});
