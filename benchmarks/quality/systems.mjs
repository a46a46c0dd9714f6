import { createGraphRAGTool, createLexicalEmbedder } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';

const indexName = 'documents';

/** Returns the search modes for one collection as `{ name, rank }`. `rank` maps a query to document ids, best first. */
export async function createSystems({ documents }) {
  const embedder = createLexicalEmbedder();
  const store = new LocalVector();
  await store.createIndex({ indexName, dimension: embedder.dimension });
  const texts = documents.map(({ text }) => text);
  const vectors = await embedder.embed(texts);
  const metadata = documents.map(({ title }) => ({ title }));
  await store.upsert({ indexName, ids: documents.map(({ id }) => id), vectors, documents: texts, metadata });

  const search = (params) => async (queryText) => {
    const [queryVector] = await embedder.embed([queryText], { purpose: 'query' });
    const matches = await store.query({ indexName, queryVector, queryText, topK: 10, ...params });
    return matches.map(({ id }) => id);
  };
  const explore = (seeds) => {
    const tool = createGraphRAGTool({ vectorStore: store, indexName, model: embedder, seeds });
    return async (queryText) => (await tool.execute({ queryText, topK: 10 })).sources.map(({ id }) => id);
  };
  const { hybridWeight } = embedder;
  return [
    { name: 'keyword (BM25)', rank: search({ mode: 'keyword' }) },
    { name: 'vector (lexical embedder)', rank: search({ mode: 'vector' }) },
    {
      name: `hybrid, weight of vectors ${hybridWeight}`,
      rank: search({ mode: 'hybrid', fusion: { vector: hybridWeight } }),
    },
    { name: 'hybrid, equal weights', rank: search({ mode: 'hybrid' }) },
    { name: 'graph from keyword seeds', rank: explore('keyword') },
    { name: 'graph from vector seeds', rank: explore('vector') },
    { name: 'graph from hybrid seeds (default)', rank: explore('hybrid') },
  ];
}
