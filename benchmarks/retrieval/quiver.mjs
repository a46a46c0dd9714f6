import { LocalVector } from '@quiver/rag/local';

const indexName = 'rows';
const batchSize = 1000;

// LocalVector in a folder. Vectors have length 1; the `part` of row n is n % 100.

export const name = '**Quiver** LocalVector';

export async function fill(folder, vectors) {
  await using store = new LocalVector({ path: folder });
  await store.createIndex({ indexName, dimension: vectors[0].length });
  for (let first = 0; first < vectors.length; first += batchSize) {
    const batch = vectors.slice(first, first + batchSize);
    await store.upsert({
      indexName,
      ids: batch.map((_vector, place) => String(first + place)),
      vectors: batch,
      metadata: batch.map((_vector, place) => ({ part: (first + place) % 100 })),
    });
  }
}

export async function open(folder) {
  const store = new LocalVector({ path: folder });
  await store.describeIndex({ indexName });
  return {
    query: async (queryVector, topK, part) => {
      const filter = part === undefined ? undefined : { part };
      return (await store.query({ indexName, queryVector, topK, filter })).map(({ id }) => Number(id));
    },
    close: () => store.close(),
  };
}

/** The keyword mode of LocalVector in memory, and its hybrid mode. */
export async function openKeywordSearch(texts) {
  const store = new LocalVector();
  await store.createIndex({ indexName, dimension: 1 });
  const startedAt = performance.now();
  await store.upsert({
    indexName,
    ids: texts.map((_text, row) => String(row)),
    vectors: texts.map(() => [1]),
    documents: texts,
  });
  // The first search builds the keyword index.
  await store.query({ indexName, mode: 'keyword', queryText: 'first' });
  return {
    seconds: (performance.now() - startedAt) / 1000,
    search: async (queryText, topK) => store.query({ indexName, mode: 'keyword', queryText, topK }),
  };
}
