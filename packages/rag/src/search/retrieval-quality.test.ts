import { describe, expect, it } from 'vitest';
import { readTestVariable } from '../../../../scripts/test-variable.ts';
import { createLexicalEmbedder } from '../embedding/index.js';
import { evaluateRetrieval, type RetrievalConfiguration } from '../evaluate/index.js';
import { LocalVector } from '../stores/local/index.js';
import { guardedMetrics, readTestCollections, type TestCollection } from './test-collection.fixture.js';

const { collections, missing } = readTestCollections(readTestVariable('QUIVER_DATA'));
if (missing.length > 0)
  process.stderr.write(
    `The quality of search is not guarded on ${missing.join(', ')}: set QUIVER_DATA to the folder of the test collections.\n`,
  );

type Quality = Record<(typeof guardedMetrics)[number], number>;

/** BM25 over Porter's stems, computed elsewhere, by another program. */
const bm25: Record<string, Quality> = {
  cranfield: { ndcgAt10: 0.3743, recallAt5: 0.3039, recallAt10: 0.4002, allAt5: 0.0844, mrrAt10: 0.5388 },
  hotpotqa: { ndcgAt10: 0.8061, recallAt5: 0.79, recallAt10: 0.9, allAt5: 0.58, mrrAt10: 0.9058 },
};
/** One passage of the 200 that are relevant in HotpotQA is .005. */
const tolerance = 0.0055;
const allowedLoss = 0.005;
const indexName = 'documents';

describe.runIf(collections.length > 0)('on a test collection', () => {
  const embedder = createLexicalEmbedder();

  it.each(collections.filter(({ name }) => name in bm25))(
    'LocalVector is at least as good as what another program computed: $name',
    async (collection) => {
      await using store = await openStore(collection);
      const { configurations } = await evaluateRetrieval({
        vectorStore: store,
        indexName,
        cases: collection.cases,
        configurations: [searchOf(store)],
        metrics: guardedMetrics,
      });
      const expected = bm25[collection.name] as Quality;
      for (const metric of guardedMetrics)
        expect(configurations[0]?.metrics[metric]?.mean, metric).toBeGreaterThanOrEqual(expected[metric] - tolerance);
    },
  );

  // Their texts have no headings and no sources: only the best sentence counts.
  it.each(collections)('query tools rank at least as well as the search of the store: $name', async (collection) => {
    await using store = await openStore(collection);
    const { configurations: reports } = await evaluateRetrieval({
      vectorStore: store,
      indexName,
      cases: collection.cases,
      configurations: [searchOf(store), { name: 'hybrid', mode: 'hybrid', model: embedder }],
      metrics: ['ndcgAt10'],
    });
    const [ofStore, ofTool] = reports.map(({ metrics }) => metrics.ndcgAt10?.mean as number);
    process.stderr.write(
      `${collection.name}: nDCG@10 ${ofStore?.toFixed(4)} of the store, ${ofTool?.toFixed(4)} of the tool\n`,
    );
    expect(ofTool).toBeGreaterThanOrEqual((ofStore as number) - allowedLoss);
  });

  const searchOf = (store: LocalVector): RetrievalConfiguration => ({
    name: 'store',
    retrieve: (queryText, { topK }) => store.query({ indexName, queryText, topK, mode: 'keyword' }),
  });

  async function openStore({ documents }: TestCollection): Promise<LocalVector> {
    const store = new LocalVector();
    await store.createIndex({ indexName, dimension: embedder.dimension as number });
    await store.upsert({
      indexName,
      ids: documents.map(({ id }) => id),
      vectors: await embedder.embed(documents.map(({ text }) => text)),
      documents: documents.map(({ text }) => text),
    });
    return store;
  }
});
