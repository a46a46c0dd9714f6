import { finished } from 'node:stream/promises';

const hnsw = { m: 16, efConstruction: 64 };
const topK = 10;

/** The equivalent SQL for exactly this table: one statement per call; the pgvector settings are set once per connection. */
export function bareSystem({ Pool, toSql, connectionString, schema, table = 'items', dimension }) {
  const pool = new Pool({ connectionString, max: 2, options: '-c hnsw.iterative_scan=relaxed_order' });
  const name = `"${schema}"."${table}"`;
  return {
    query: async (vector, { filter, exact }) => {
      const values = [toSql(vector)];
      const where = Object.entries(filter ?? {}).map(([key, value]) => {
        values.push(key, JSON.stringify(value));
        return `metadata -> $${values.length - 1}::text @> $${values.length}::jsonb`;
      });
      // PostgreSQL cannot use an index for an expression, so this query compares all rows.
      const distance = exact ? '(embedding <=> $1) + 0' : 'embedding <=> $1';
      const condition = where.length > 0 ? `WHERE ${where.join(' AND ')}` : '';
      const { rows } = await pool.query(
        `SELECT id, metadata, document, ${distance} AS distance FROM ${name} ${condition} ORDER BY distance LIMIT ${topK}`,
        values,
      );
      return rows.map(({ id }) => id);
    },
    create: async (index) => {
      await pool.query(
        `CREATE TABLE ${name} (id text PRIMARY KEY, embedding vector(${dimension}) NOT NULL, metadata jsonb NOT NULL, document text)`,
      );
      if (index === 'hnsw') await pool.query(`CREATE INDEX ON ${name} USING hnsw (embedding vector_cosine_ops)`);
    },
    truncate: () => pool.query(`TRUNCATE ${name}`),
    upsert: (vectors, metadataOf, start, end) => {
      const rows = rowsOf(vectors, metadataOf, start, end);
      return pool.query(
        `INSERT INTO ${name} SELECT * FROM unnest($1::text[], $2::vector[], $3::jsonb[], $4::text[])
         ON CONFLICT (id) DO UPDATE SET embedding = excluded.embedding, metadata = excluded.metadata, document = excluded.document`,
        [rows.ids, rows.vectors.map(toSql), rows.metadata.map((value) => JSON.stringify(value)), rows.documents],
      );
    },
    /** Loads rows by `COPY`, the fastest method. It only inserts: an existing id is an error. */
    copy: (copyFrom) => async (vectors, metadataOf, start, end) => {
      const client = await pool.connect();
      const stream = client.query(copyFrom(`COPY ${name} (id, embedding, metadata, document) FROM STDIN BINARY`));
      stream.end(toCopyBinary(rowsOf(vectors, metadataOf, start, end)));
      await finished(stream);
      client.release();
    },
    close: () => pool.end(),
  };
}

/** @see https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.4 */
function toCopyBinary({ ids, vectors, metadata, documents }) {
  const parts = [Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')];
  const field = (bytes) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes.length);
    parts.push(length, bytes);
  };
  for (const [row, id] of ids.entries()) {
    parts.push(Buffer.from([0, 4]));
    field(Buffer.from(id));
    const vector = Buffer.alloc(4 + 4 * vectors[row].length);
    vector.writeInt16BE(vectors[row].length);
    for (const [place, value] of vectors[row].entries()) vector.writeFloatBE(value, 4 + 4 * place);
    field(vector);
    field(Buffer.from(`\x01${JSON.stringify(metadata[row])}`));
    field(Buffer.from(documents[row]));
  }
  parts.push(Buffer.from([255, 255]));
  return Buffer.concat(parts);
}

export async function quiverSystem({
  PgVector,
  pool,
  schema,
  indexName = 'items',
  dimension,
  index = 'later',
  ...options
}) {
  const store = new PgVector({ pool, schemaName: schema });
  const { metadataIndexes } = options;
  await store.createIndex({
    indexName,
    dimension,
    buildIndex: index === 'hnsw',
    indexConfig: { type: 'hnsw', hnsw },
    ...(metadataIndexes && { metadataIndexes }),
  });
  const upsert = (vectors, metadataOf, start, end) =>
    store.upsert({ indexName, ...rowsOf(vectors, metadataOf, start, end) });
  return {
    query: async (queryVector, { filter, exact = false }) =>
      (await store.query({ indexName, queryVector, topK, exact, ...(filter && { filter }) })).map(({ id }) => id),
    upsert,
    fill: async (vectors, metadataOf) => {
      for (let start = 0; start < vectors.length; start += 1000)
        await upsert(vectors, metadataOf, start, Math.min(start + 1000, vectors.length));
      await store.buildIndex({ indexName, indexConfig: { type: 'hnsw', hnsw } });
    },
    truncate: () => store.truncateIndex({ indexName }),
    close: () => store.close(),
  };
}

export async function mastraSystem({ PgVector, connectionString, schema, dimension }) {
  const store = new PgVector({ id: 'bench', connectionString, schemaName: schema });
  const open = async (indexName, index) => {
    const type = index === 'flat' ? 'flat' : 'hnsw';
    await store.createIndex({
      indexName,
      dimension,
      metric: 'cosine',
      buildIndex: index === 'hnsw',
      indexConfig: { type, hnsw },
    });
    const upsert = (vectors, metadataOf, start, end) => {
      const { ids, metadata, documents, ...rows } = rowsOf(vectors, metadataOf, start, end);
      // @mastra/pg does not store documents.
      const withText = metadata.map((value, at) => ({ ...value, document: documents[at] }));
      return store.upsert({ indexName, ids, vectors: rows.vectors, metadata: withText });
    };
    return {
      query: async (queryVector, { filter, exact }) => {
        // With a minScore, @mastra/pg compares all rows.
        const minScore = exact ? { minScore: 0.0001 } : {};
        const found = await store.query({ indexName, queryVector, topK, ...(filter && { filter }), ...minScore });
        return found.map(({ id }) => id);
      },
      upsert,
      fill: async (vectors, metadataOf) => {
        for (let start = 0; start < vectors.length; start += 1000)
          await upsert(vectors, metadataOf, start, Math.min(start + 1000, vectors.length));
        await store.buildIndex({ indexName, metric: 'cosine', indexConfig: { type: 'hnsw', hnsw } });
      },
      truncate: () => store.truncateIndex({ indexName }),
      close: () => store.disconnect(),
      another: open,
    };
  };
  return open('items', 'later');
}

function rowsOf(vectors, metadataOf, start, end) {
  const metadata = Array.from({ length: end - start }, (_, offset) => metadataOf(start + offset));
  return {
    ids: metadata.map(({ n }) => `passage-${String(n).padStart(6, '0')}`),
    vectors: vectors.slice(start, end),
    metadata: metadata.map(({ text: _text, ...fields }) => fields),
    documents: metadata.map(({ text }) => text),
  };
}
