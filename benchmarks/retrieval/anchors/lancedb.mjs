import * as lancedb from '@lancedb/lancedb';

const { searchParams } = new URL(import.meta.url);
/** Whether `part` has a B-tree index and `optimize()` has merged the files. */
const isIndexed = searchParams.has('indexed');
/** Whether the vectors have an index, with LanceDB's defaults. */
const isApproximate = searchParams.has('approximate');

export const name = `LanceDB 0.39.0, ${isApproximate ? 'HNSW (approximate)' : 'flat'}${isIndexed ? ', scalar index, optimized' : ''}`;

export async function fill(folder, vectors) {
  const database = await lancedb.connect(folder);
  let table;
  for (let first = 0; first < vectors.length; first += 10_000) {
    const rows = vectors
      .slice(first, first + 10_000)
      .map((vector, place) => ({ id: first + place, part: (first + place) % 100, vector: Array.from(vector) }));
    if (table) await table.add(rows);
    else table = await database.createTable('rows', rows);
  }
  if (isIndexed) await table.createIndex('part', { config: lancedb.Index.btree() });
  if (isApproximate) await table.createIndex('vector', { config: lancedb.Index.hnswSq({ distanceType: 'cosine' }) });
  if (isIndexed) await table.optimize();
}

export async function open(folder) {
  const table = await (await lancedb.connect(folder)).openTable('rows');
  return {
    query: async (vector, topK, part) => {
      let search = table.query().nearestTo(vector).distanceType('cosine').select(['id', '_distance']).limit(topK);
      if (part !== undefined) search = search.where(`part = ${part}`);
      return (await search.toArray()).map(({ id }) => Number(id));
    },
    close: async () => table.close(),
  };
}
