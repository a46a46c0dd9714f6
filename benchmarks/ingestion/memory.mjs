// Memory and speed of ingest() over very many chunks:
//   node --expose-gc ingestion/memory.mjs [--chunks 1000000] [--postgres]
// The store discards its input, so the figures are those of the pipeline. With --postgres, the store is the server at
// QUIVER_POSTGRES_URL, and a second run ingests the same documents. Vectors have 8 dimensions, which keeps embedding and storing cheap.
import { ingest, MDocument } from '@quiver/rag';
import { PgVector } from '@quiver/rag/pg';
import { readFlags } from '../read-flags.mjs';

const values = readFlags({
  chunks: { type: 'string', default: '1000000' },
  postgres: { type: 'boolean', default: false },
});
const chunksPerDocument = 200;
const documentCount = Math.ceil(Number(values.chunks) / chunksPerDocument);
const indexName = 'ingestion_benchmark';
const dimension = 8;

/** Distinct texts of about 400 characters. */
async function* documents() {
  for (let n = 0; n < documentCount; n += 1) {
    const lines = Array.from(
      { length: chunksPerDocument },
      (_, line) => `Document ${n}, paragraph ${line}. ${'Words that fill a paragraph of the usual length. '.repeat(7)}`,
    );
    yield MDocument.fromText(lines.join('\n\n'), { source: `folder/document-${n}.txt` });
  }
}

const embedder = {
  id: 'benchmark',
  embed: async (texts) => texts.map((text) => Float32Array.from({ length: dimension }, (_, at) => text.charCodeAt(at))),
};

const forgetful = {
  listIndexes: async () => [],
  createIndex: async () => {},
  upsert: async ({ ids }) => ids,
};

async function run(name, store) {
  let peak = 0;
  let next = 0;
  const look = () => (peak = Math.max(peak, process.memoryUsage.rss()));
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const startedAt = performance.now();
  const samples = [];
  const report = await ingest({
    documents: documents(),
    vectorStore: store,
    indexName,
    model: embedder,
    chunkOptions: { maxSize: 400, overlap: 0 },
    onProgress: ({ added, moved, unchanged }) => {
      look();
      const chunks = added + moved + unchanged;
      if (chunks < next) return;
      next += Number(values.chunks) / 10;
      globalThis.gc?.();
      samples.push(Math.round((process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers) / 1e6));
    },
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const chunks = report.added + report.unchanged + report.moved;
  console.log(
    `| ${name} | ${chunks.toLocaleString('en')} | ${seconds.toFixed(0)} s | ${Math.round(chunks / seconds).toLocaleString('en')} | ${Math.round(before / 1e6)} → ${Math.round(peak / 1e6)} MB | ${samples.join(' ')} |`,
  );
}

console.log(`Node ${process.version}\n`);
console.log('| run | chunks | time | chunks/s | memory of the process, peak | live data after each tenth, MB |');
console.log('|---|---|---|---|---|---|');
if (values.postgres) {
  const store = new PgVector({ id: 'benchmark', connectionString: process.env.QUIVER_POSTGRES_URL });
  await store.deleteIndex({ indexName }).catch(() => {});
  await run('PgVector, first', store);
  await run('PgVector, again', store);
  await store.deleteIndex({ indexName });
  await store.disconnect();
} else {
  await run('store that keeps nothing', forgetful);
}
