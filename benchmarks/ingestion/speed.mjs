// Speed of ingest() against chunking and upsert by hand, and of a run in which nothing changed:
//   node ingestion/speed.mjs [--documents 500] [--rounds 5]
// Every round runs all cases in turn with a store in memory; the embedder computes nothing. Ratios are taken within a round.
import { loadavg } from 'node:os';
import { ingest, MDocument } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { createCorpus } from '../chunking/corpus.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { median, ratiosOf, withSpread } from '../statistics.mjs';

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
const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
for (let round = 0; round <= Number(values.rounds); round += 1) {
  for (const [name, work] of Object.entries(cases)) {
    globalThis.gc?.();
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    // Round 0 warms up.
    if (round > 0) times[name].push((user + system) / 1e6);
  }
}
const { count } = await stored.describeIndex({ indexName });
console.log(
  `${documentCount} documents of 10,000 characters, ${count} chunks; Node ${process.version}, load ${loadavg()[0].toFixed(1)}\n`,
);
console.log('| | CPU seconds | chunks/s | × the speed by hand |\n|---|---|---|---|');
for (const [name, own] of Object.entries(times)) {
  const ratios = ratiosOf(times['by hand'], own);
  record(`ingestion/speed-to-by-hand/Quiver, ${name}`, ratios, 'most');
  console.log(
    `| ${name} | ${median(own).toFixed(2)} | ${Math.round(count / median(own)).toLocaleString('en')} | ${withSpread(ratios)} |`,
  );
}
