import { describe, expect, it } from 'vitest';
import { createLexicalEmbedder } from '../embedding/index.js';
import type { QueryMode } from '../store/index.js';
import { LocalVector } from '../stores/local/index.js';
import { measureQuality, readTestCollections, type Quality, type TestCollection } from './test-collection.fixture.js';

// oxlint-disable-next-line node/no-process-env
const collections = readTestCollections(process.env['QUIVER_DATA']);
if (!collections)
  process.stderr.write(
    'The quality of search is not guarded: set QUIVER_DATA to the folder of the test collections.\n',
  );

/** BM25 over Porter's stems, computed elsewhere, by another program. */
const bm25: Record<string, Quality> = {
  cranfield: { 'nDCG@10': 0.3743, 'recall@5': 0.3039, 'recall@10': 0.4002, 'all@5': 0.0844, 'MRR@10': 0.5388 },
  hotpotqa: { 'nDCG@10': 0.8061, 'recall@5': 0.79, 'recall@10': 0.9, 'all@5': 0.58, 'MRR@10': 0.9058 },
};
const tolerance = 0.002;

describe.runIf(collections)('on a test collection, LocalVector', () => {
  const embedder = createLexicalEmbedder();

  async function measure(collection: TestCollection, mode: QueryMode): Promise<Quality> {
    const store = new LocalVector();
    const { documents } = collection;
    const vectors = await embedder.embed(documents.map(({ text }) => text));
    await store.createIndex({ indexName: 'documents', dimension: embedder.dimension as number });
    await store.upsert({
      indexName: 'documents',
      ids: documents.map(({ id }) => id),
      vectors,
      documents: documents.map(({ text }) => text),
    });
    return measureQuality(collection, async (queryText) => {
      const [queryVector = []] = await embedder.embed([queryText], { purpose: 'query' });
      const fusion = { vector: embedder.hybridWeight as number };
      const matches = await store.query({ indexName: 'documents', mode, queryText, queryVector, fusion });
      return matches.map(({ id }) => id);
    });
  }

  it.each(collections ?? [])('finds by words exactly what BM25 finds: $name', async (collection) => {
    const quality = await measure(collection, 'keyword');
    for (const [name, expected] of Object.entries(bm25[collection.name] ?? {}))
      expect(Math.abs(quality[name as keyof Quality] - expected), name).toBeLessThanOrEqual(tolerance);
  });

  it.each(collections ?? [])('finds by both at least as much: $name', async (collection) => {
    const quality = await measure(collection, 'hybrid');
    for (const [name, expected] of Object.entries(bm25[collection.name] ?? {}))
      expect(quality[name as keyof Quality], name).toBeGreaterThanOrEqual(expected - tolerance);
  });
});
