import { createGraphRAGTool, createLexicalEmbedder } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';

const indexName = 'documents';

/** Fills a store with a collection, and returns the configurations to compare: the first one is keyword search. */
export async function createSystems({ documents }) {
  const embedder = createLexicalEmbedder();
  const store = new LocalVector();
  await store.createIndex({ indexName, dimension: embedder.dimension });
  const texts = documents.map(({ text }) => text);
  const vectors = await embedder.embed(texts);
  const metadata = documents.map(({ title }) => ({ title }));
  await store.upsert({ indexName, ids: documents.map(({ id }) => id), vectors, documents: texts, metadata });

  const explore = (options) => createGraphRAGTool({ vectorStore: store, indexName, model: embedder, ...options });
  const fusion = { vector: 1 };
  return {
    store,
    indexName,
    configurations: [
      { name: 'keyword', mode: 'keyword' },
      { name: 'vector, lexical embedder', mode: 'vector', model: embedder },
      { name: 'hybrid, equal weights', mode: 'hybrid', model: embedder, fusion },
      { name: 'graph', retrieve: explore({}) },
      { name: 'graph, vector seeds', retrieve: explore({ seeds: 'vector' }) },
      { name: 'graph, hybrid seeds of equal weights', retrieve: explore({ fusion }) },
    ],
  };
}
