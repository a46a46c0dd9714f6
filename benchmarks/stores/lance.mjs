// LanceDB by hand, as its documentation shows it, and LanceVectorStore.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { quiverSystem } from './quiver.mjs';

const fromRag = createRequire(new URL('../../packages/rag/package.json', import.meta.url));

export async function lanceSystems({ folder, dimension }) {
  const lancedb = fromRag('@lancedb/lancedb');
  const { Field, FixedSizeList, Float32, Int32, Schema, Utf8 } = fromRag('apache-arrow');
  const { LanceVectorStore } = await import('../../packages/rag/dist/stores/lance/index.js');
  const connection = await lancedb.connect(join(folder, 'bare-lance'));
  const table = await connection.createEmptyTable(
    'records',
    new Schema([
      new Field('id', new Utf8()),
      new Field('metadata', new Utf8()),
      new Field('hundredth', new Int32()),
      new Field('document', new Utf8()),
      new Field('vector', new FixedSizeList(dimension, new Field('item', new Float32(), true))),
    ]),
  );
  await table.createIndex('document', { config: lancedb.Index.fts() });
  const select = async (query, column) => {
    const rows = await query.select(['id', 'metadata', 'document', column]).limit(10).toArray();
    for (const row of rows) JSON.parse(row.metadata);
    return rows.map(({ id }) => id);
  };
  const nearest = (vector) => table.query().nearestTo(vector).distanceType('cosine');
  const bare = {
    upsert: (records) =>
      table
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute(
          records.map(({ id, metadata, vector, document }) => ({
            id,
            metadata: JSON.stringify(metadata),
            hundredth: metadata.hundredth,
            document,
            vector,
          })),
        ),
    prepare: () => table.optimize(),
    query: (vector, hundredth) =>
      select(
        hundredth === undefined ? nearest(vector) : nearest(vector).where(`hundredth = ${hundredth}`),
        '_distance',
      ),
    keyword: (text) => select(table.query().fullTextSearch(text, { columns: 'document' }), '_score'),
    close: async () => connection.close(),
  };
  const store = new LanceVectorStore({ uri: join(folder, 'quiver-lance') });
  const indexName = 'records';
  await store.createIndex({ indexName, dimension });
  return {
    name: 'LanceDB',
    bare,
    quiver: { ...quiverSystem(store, indexName), prepare: () => store.optimize({ indexName }) },
  };
}
