// The client of Qdrant by hand, as its documentation shows it, and QdrantVector. Both talk to the stand-in of the tests: it checks and
// answers the same requests as the server, but searches by comparing all vectors in JavaScript.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { quiverSystem } from './quiver.mjs';

const fromRag = createRequire(new URL('../../packages/rag/package.json', import.meta.url));

export async function qdrantSystems({ dimension }) {
  const { QdrantClient } = fromRag('@qdrant/js-client-rest');
  const { QdrantVector } = await import('../../packages/rag/dist/stores/qdrant/index.js');
  const server = fork(new URL('qdrant-server.mjs', import.meta.url), {
    execArgv: ['--import', new URL('../../scripts/source-hooks.mjs', import.meta.url).href],
  });
  const [url] = await once(server, 'message');
  const client = new QdrantClient({ url, checkCompatibility: false });
  await client.createCollection('bare', {
    vectors: { dense: { size: dimension, distance: 'Cosine' } },
    sparse_vectors: { terms: { modifier: 'idf' } },
  });
  await client.createPayloadIndex('bare', { field_name: 'hundredth', field_schema: 'keyword', wait: true });
  const search = async (query, using, hundredth) => {
    const { points } = await client.query('bare', {
      query,
      using,
      limit: 10,
      with_payload: ['id', 'source', 'section', 'hundredth', 'year', 'document'],
      ...(hundredth !== undefined && {
        filter: { must: [{ key: 'hundredth', match: { any: [String(hundredth)] } }] },
      }),
    });
    return points.map(({ payload }) => payload.id);
  };
  const bare = {
    upsert: (records) =>
      client.upsert('bare', {
        wait: true,
        points: records.map(({ id, metadata, vector, document }) => ({
          // Ids of points are numbers or UUIDs.
          id: `00000000-0000-0000-0000-${id.slice('record-'.length).padStart(12, '0')}`,
          vector: { dense: Array.from(vector), terms: weigh(toSparseVector(document)) },
          payload: { ...metadata, hundredth: [String(metadata.hundredth)], id, document },
        })),
      }),
    query: (vector, hundredth) => search(Array.from(vector), 'dense', hundredth),
    keyword: (text) => search(toSparseVector(text), 'terms'),
    close: async () => server.kill(),
  };
  const store = new QdrantVector({ url });
  const indexName = 'records';
  await store.createIndex({ indexName, dimension });
  return { name: 'Qdrant (stand-in)', bare, quiver: { ...quiverSystem(store, indexName), close: async () => {} } };
}

/** Weights of BM25 for texts of 100 words on average. */
function weigh({ indices, values }) {
  const norm = 1.2 * (0.25 + (0.75 * values.reduce((sum, count) => sum + count, 0)) / 100);
  return { indices, values: values.map((count) => count / (count + norm)) };
}

/** Counts words, without stems. */
function toSparseVector(text) {
  const counts = new Map();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    let hash = 0;
    for (let at = 0; at < word.length; at += 1) hash = (Math.imul(hash, 31) + word.charCodeAt(at)) >>> 0;
    counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  return { indices: [...counts.keys()], values: [...counts.values()] };
}
