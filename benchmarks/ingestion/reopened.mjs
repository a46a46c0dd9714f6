// Cost of the first keyword and hybrid query of a reopened folder of LocalVector, in later ones:
//   node ingestion/reopened.mjs [--chunks 5000] [--rounds 7]
// CPU time; every round opens the folder again in this process, and counts neither opening nor reading the vectors.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalVector } from '@quiver/rag/local';
import { createCorpus } from '../chunking/corpus.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { median, withSpread } from '../statistics.mjs';

const values = readFlags({ chunks: { type: 'string', default: '5000' }, rounds: { type: 'string', default: '7' } });
const count = Number(values.chunks);
const length = 500;
const indexName = 'chunks';
const later = 20;
const { text } = createCorpus(count * length);
const path = mkdtempSync(join(tmpdir(), 'quiver-reopened-'));
async function cpuOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** @returns CPU milliseconds of the first query and of each later one */
async function reopen(mode) {
  await using store = new LocalVector({ path });
  await store.describeIndex({ indexName });
  const query = (n) => {
    const queryText = text.slice(n * length, n * length + 60);
    return store.query({ indexName, mode, queryText, topK: 10, ...(mode === 'hybrid' && { queryVector: [1] }) });
  };
  const first = await cpuOf(() => query(0));
  const rest = await cpuOf(async () => {
    for (let n = 1; n <= later; n += 1) await query(n * 7);
  });
  return { first, each: rest / later };
}

try {
  const store = new LocalVector({ path });
  await store.createIndex({ indexName, dimension: 1 });
  for (let n = 0; n < count; n += 1000) {
    const documents = Array.from({ length: Math.min(1000, count - n) }, (_, at) =>
      text.slice((n + at) * length, (n + at + 1) * length),
    );
    const ids = documents.map((_, at) => String(n + at));
    await store.upsert({ indexName, ids, vectors: ids.map(() => [1]), documents });
  }
  await store.close();
  const { first: analyzed } = await reopen('keyword');
  const bytes = statSync(join(path, `${indexName}.qvwords`)).size / count;
  console.log(
    `${count} chunks of ${length} characters; the first keyword query of all: ${analyzed.toFixed(0)} ms, it stores ${bytes.toFixed(0)} bytes a chunk; Node ${process.version}, load ${loadavg()[0].toFixed(1)}\n`,
  );
  console.log('| reopened | first query, CPU ms | a later one | ratio |\n|---|---|---|---|');
  for (const mode of ['keyword', 'hybrid']) {
    const rounds = [];
    for (let round = 0; round <= Number(values.rounds); round += 1) rounds.push(await reopen(mode));
    // Round 0 warms up.
    const measured = rounds.slice(1);
    const ratios = measured.map(({ first, each }) => first / each);
    record(`reopened/first-to-later/Quiver, ${mode}`, ratios);
    const [first, each] = [median(measured.map((one) => one.first)), median(measured.map((one) => one.each))];
    console.log(`| ${mode} | ${first.toFixed(1)} | ${each.toFixed(2)} | ${withSpread(ratios, 1)} |`);
  }
} finally {
  rmSync(path, { recursive: true });
}
