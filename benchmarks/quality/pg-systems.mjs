import { createRequire } from 'node:module';
import { PgVector } from '@quiver/rag/pg';

const fromRag = createRequire(new URL('../../packages/rag/package.json', import.meta.url));
const indexName = 'documents';
const schemaName = 'quiver_quality';

/** Keyword search in PostgreSQL, compared with PostgreSQL's two rankings: on the server at the URL or, without a URL, in this process. */
export async function createPgSystems({ documents }, connectionString) {
  const database = await connect(connectionString);
  await database.query(`DROP SCHEMA IF EXISTS ${schemaName} CASCADE`);
  const store = new PgVector({ ...database.options, schemaName });
  await store.createIndex({ indexName, dimension: 1, indexConfig: { type: 'flat' } });
  await store.upsert({
    indexName,
    ids: documents.map(({ id }) => id),
    vectors: documents.map(() => [1]),
    documents: documents.map(({ text }) => text),
  });
  const own = (rank) => async (question) => {
    const { rows } = await database.query(
      `SELECT id FROM ${schemaName}.${indexName},
         (SELECT replace(plainto_tsquery('english', $1)::text, '&', '|')::tsquery AS question) AS asked
       WHERE words @@ question ORDER BY ${rank}(words, question, 1) DESC, id LIMIT 10`,
      [question],
    );
    return rows;
  };
  const retrieve = (queryText, { topK }) => store.query({ indexName, mode: 'keyword', queryText, topK });
  return {
    configurations: [
      { name: 'PgVector, keyword', retrieve },
      { name: 'ts_rank of PostgreSQL', retrieve: own('ts_rank') },
      { name: 'ts_rank_cd of PostgreSQL', retrieve: own('ts_rank_cd') },
    ],
    close: async () => {
      await database.query(`DROP SCHEMA ${schemaName} CASCADE`);
      await database.close();
    },
  };
}

async function connect(connectionString) {
  if (connectionString) {
    const { Pool } = fromRag('pg');
    const pool = new Pool({ connectionString });
    return { options: { pool }, query: (...statement) => pool.query(...statement), close: () => pool.end() };
  }
  const { PGlite } = fromRag('@electric-sql/pglite');
  const { vector } = fromRag('@electric-sql/pglite-pgvector');
  const pglite = await PGlite.create({ extensions: { vector } });
  return { options: { pglite }, query: (...statement) => pglite.query(...statement), close: () => pglite.close() };
}
