import { describe, expect, it } from 'vitest';
import { createLexicalEmbedder } from '../embedding/index.js';
import {
  measureQuality,
  readTestCollections,
  type Quality,
  type TestCollection,
} from '../retrieval/test-collection.fixture.js';
import type { QueryMode } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import { createGraphRAGTool } from '../tools/graph-rag-tool.js';

// oxlint-disable-next-line node/no-process-env
const collections = readTestCollections(process.env['QUIVER_DATA']);
if (!collections)
  process.stderr.write(
    'The quality of the graph is not guarded: set QUIVER_DATA to the folder of the test collections.\n',
  );

const indexName = 'documents';
const tolerance = 0.002;

describe.runIf(collections)('on a test collection, the graph with its default settings', () => {
  const model = createLexicalEmbedder();

  async function fill({ documents }: TestCollection): Promise<LocalVector> {
    const store = new LocalVector();
    await store.createIndex({ indexName, dimension: model.dimension as number });
    await store.upsert({
      indexName,
      ids: documents.map(({ id }) => id),
      vectors: await model.embed(documents.map(({ text }) => text)),
      documents: documents.map(({ text }) => text),
      metadata: documents.map(({ title }) => ({ title })),
    });
    return store;
  }

  async function measure(collection: TestCollection, seeds: QueryMode): Promise<{ seeds: Quality; graph: Quality }> {
    await using vectorStore = await fill(collection);
    const tool = createGraphRAGTool({ vectorStore, indexName, model, seeds });
    const fusion = { vector: model.hybridWeight as number };
    return {
      seeds: await measureQuality(collection, async (queryText) => {
        const [queryVector = []] = await model.embed([queryText], { purpose: 'query' });
        const matches = await vectorStore.query({ indexName, mode: seeds, queryText, queryVector, fusion });
        return matches.map(({ id }) => id);
      }),
      graph: await measureQuality(collection, async (queryText) =>
        (await tool.execute({ queryText }, { onFailure: 'throw' })).sources.map(({ id }) => id),
      ),
    };
  }

  const collectionOf = (name: string): TestCollection =>
    collections?.find((each) => each.name === name) as TestCollection;

  it.each(['keyword', 'hybrid'] as const)(
    'finds both halves of an answer that seeds of the mode %s miss',
    async (mode) => {
      const { seeds, graph } = await measure(collectionOf('hotpotqa'), mode);
      expect(graph['recall@5']).toBeGreaterThanOrEqual(0.83);
      expect(graph['all@5']).toBeGreaterThanOrEqual(0.67);
      expect(graph['nDCG@10']).toBeGreaterThan(seeds['nDCG@10']);
    },
  );

  it.each(['keyword', 'hybrid'] as const)(
    'keeps the quality of the mode %s where few passages are connected',
    async (mode) => {
      const { seeds, graph } = await measure(collectionOf('cranfield'), mode);
      for (const name of ['nDCG@10', 'recall@5', 'all@5', 'MRR@10'] as const)
        expect(graph[name], name).toBeGreaterThanOrEqual(seeds[name] - tolerance);
    },
  );
});
