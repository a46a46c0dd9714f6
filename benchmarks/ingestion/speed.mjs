// Speed of ingest() against chunking and upsert by hand, and of a run in which nothing changed:
//   node ingestion/speed.mjs [--documents 500] [--rounds 5]
// Every round runs all cases in turn with a store in memory; the embedder computes nothing. Ratios are taken within a round.
import { loadavg } from 'node:os';
import { ingest, MDocument } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { createCorpus } from '../chunking/corpus.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { inTurn, median, ratiosOf, table, timed, withSpread } from '../statistics.mjs';

const values = readFlags({
  documents: { type: 'string', default: '500' },
  rounds: { type: 'string', default: '5' },
});
const documentCount = Number(values.documents);
const indexName = 'documents';
const batchSize = 256;
const chunkOptions = { strategy: 'recursive', maxSize: 512, overlap: 50 };
const { text } = createCorpus(documentCount * 10_000);
// As from files: parts of a longer string would be read more slowly.
const texts = Array.from({ length: documentCount }, (_, n) =>
  Buffer.from(text.slice(n * 10_000, (n + 1) * 10_000)).toString(),
);
const toDocument = (own, n) => MDocument.fromText(own, { source: `folder/document-${n}.txt`, tenant: 'a' });
const embedder = { id: 'benchmark', embed: async (list) => list.map(() => new Float32Array(8).fill(1)) };

async function byHand() {
  const store = new LocalVector();
  await store.createIndex({ indexName, dimension: 8 });
  let chunks = [];
  const flush = async () => {
    const vectors = await embedder.embed(chunks);
    await store.upsert({
      indexName,
      ids: chunks.map(({ id }) => id),
      vectors,
      metadata: chunks.map(({ metadata }) => metadata),
      documents: chunks.map(({ text: own }) => own),
    });
    chunks = [];
  };
  for (const [n, own] of texts.entries()) {
    chunks.push(...(await toDocument(own, n).chunk(chunkOptions)));
    if (chunks.length >= batchSize) await flush();
  }
  await flush();
}

const run = (store) =>
  ingest({ documents: texts.map(toDocument), vectorStore: store, indexName, model: embedder, chunkOptions });
const stored = new LocalVector();
await run(stored);
const cases = {
  'by hand': byHand,
  'ingest(), first run': () => run(new LocalVector()),
  'ingest(), nothing changed': () => run(stored),
};
const results = await inTurn(Object.values(cases), Number(values.rounds) + 1, (work) => {
  globalThis.gc?.();
  return timed(work);
});
// Round 0 warms up.
const times = results.map((rounds) => rounds.slice(1).map(({ cpu }) => cpu / 1000));
const { count } = await stored.describeIndex({ indexName });
console.log(
  `${documentCount} documents of 10,000 characters, ${count} chunks; Node ${process.version}, load ${loadavg()[0].toFixed(1)}\n`,
);
const rows = Object.keys(cases).map((name, index) => {
  const ratios = ratiosOf(times[0], times[index]);
  if (index > 0) record(`ingestion/speed-to-by-hand/Quiver, ${name}`, ratios, 'most');
  const rate = Math.round(count / median(times[index])).toLocaleString('en');
  return [name, median(times[index]).toFixed(2), rate, withSpread(ratios)];
});
console.log(table(['', 'CPU seconds', 'chunks/s', '× the speed by hand'], rows));
