// libSQL by hand, as its documentation shows it, and LibSQLVector.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { quiverSystem } from './quiver.mjs';

const fromRag = createRequire(new URL('../../packages/rag/package.json', import.meta.url));

export async function libsqlSystems({ folder, dimension }) {
  const { createClient } = fromRag('@libsql/client');
  const { LibSQLVector } = await import('../../packages/rag/dist/stores/libsql/index.js');
  const client = createClient({ url: `file:${join(folder, 'bare.db')}` });
  await client.batch(
    [
      `CREATE TABLE records (id TEXT PRIMARY KEY, metadata TEXT, embedding F32_BLOB(${dimension}), document TEXT)`,
      `CREATE VIRTUAL TABLE words USING fts5(document, content = 'records', tokenize = 'porter')`,
      `CREATE TRIGGER added AFTER INSERT ON records BEGIN INSERT INTO words (rowid, document) VALUES (new.rowid, new.document); END`,
    ],
    'write',
  );
  const bytes = (vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  const select = async (sql, args) => {
    const { rows } = await client.execute({ sql, args });
    for (const row of rows) JSON.parse(row.metadata);
    return rows.map(({ id }) => id);
  };
  const distance = 'SELECT id, metadata, document, vector_distance_cos(embedding, ?1) AS distance FROM records';
  const bare = {
    upsert: (records) =>
      client.batch(
        records.map(({ id, metadata, vector, document }) => ({
          sql: 'INSERT INTO records VALUES (?, ?, ?, ?)',
          args: [id, JSON.stringify(metadata), bytes(vector), document],
        })),
        'write',
      ),
    query: (vector, hundredth) =>
      hundredth === undefined
        ? select(`${distance} ORDER BY distance, id LIMIT 10`, [bytes(vector)])
        : select(`${distance} WHERE json_extract(metadata, '$.hundredth') = ?2 ORDER BY distance, id LIMIT 10`, [
            bytes(vector),
            hundredth,
          ]),
    keyword: (text) =>
      select(
        `SELECT records.id, records.metadata, records.document FROM words JOIN records ON records.rowid = words.rowid
         WHERE words MATCH ?1 ORDER BY bm25(words), records.id LIMIT 10`,
        [text.split(' ').join(' OR ')],
      ),
    close: async () => client.close(),
  };
  const store = new LibSQLVector({ url: `file:${join(folder, 'quiver.db')}` });
  const indexName = 'records';
  await store.createIndex({ indexName, dimension });
  return { name: 'libSQL', bare, quiver: quiverSystem(store, indexName) };
}
