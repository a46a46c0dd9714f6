// Compares stores with their bare clients:
//
//   pnpm --filter @quiver/benchmarks stores [-- --rounds 30] [--rows 10000] [--store libsql,lance,qdrant]
//
// Build first (`pnpm build`). The bare clients keep the same columns and the same full-text index. In each round, both run the same
// operation, in turn; the table shows CPU time of this process, and the median of the ratios within a round, of CPU time and of elapsed
// time. Qdrant has no server here: both clients talk to the stand-in of the tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../random.mjs';
import { readFlags } from '../read-flags.mjs';
import { lanceSystems } from './lance.mjs';
import { libsqlSystems } from './libsql.mjs';
import { qdrantSystems } from './qdrant.mjs';

const flags = readFlags({
  rounds: { type: 'string', default: '30' },
  rows: { type: 'string', default: '10000' },
  store: { type: 'string', default: 'libsql,lance,qdrant' },
});
const rounds = Number(flags.rounds);
const rowCount = Number(flags.rows);
const dimension = 384;
const batchSize = 1000;

const random = createRandom(1);
const words = Array.from({ length: 5000 }, () =>
  Array.from({ length: 3 + Math.floor(random() * 6) }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join(
    '',
  ),
);
const createVector = () => Float32Array.from({ length: dimension }, () => random() - 0.5);
const records = Array.from({ length: rowCount }, (_, n) => ({
  id: `record-${n}`,
  vector: createVector(),
  metadata: { source: `docs/page-${n % 200}.md`, section: 'Introduction', hundredth: n % 100, year: 2000 + (n % 25) },
  document: Array.from(
    { length: 20 + Math.floor(random() * 80) },
    () => words[Math.floor(random() ** 2 * words.length)],
  ).join(' '),
}));
const questions = Array.from({ length: rounds + 3 }, () => ({
  vector: createVector(),
  text: [1, 2, 3].map(() => words[Math.floor(random() * words.length)]).join(' '),
}));

const folder = mkdtempSync(join(tmpdir(), 'quiver-bench-'));
try {
  for (const [name, createSystems] of Object.entries({
    libsql: libsqlSystems,
    lance: lanceSystems,
    qdrant: qdrantSystems,
  }))
    if (flags.store.split(',').includes(name)) await compare(await createSystems({ folder, dimension }));
} finally {
  rmSync(folder, { recursive: true });
}

async function compare({ name, bare, quiver }) {
  const rows = [];
  const upserts = { bare: [], quiver: [] };
  for (let start = 0; start < rowCount; start += batchSize) {
    const batch = records.slice(start, start + batchSize);
    const order = start % (2 * batchSize) === 0 ? ['bare', 'quiver'] : ['quiver', 'bare'];
    for (const system of order) upserts[system].push(await measure(() => ({ bare, quiver })[system].upsert(batch)));
  }
  upserts.bare.push(await measure(async () => bare.prepare?.()));
  upserts.quiver.push(await measure(async () => quiver.prepare?.()));
  rows.push(toRow(`upsert ${rowCount}, batches of ${batchSize}`, upserts, 'sum'));
  for (const [operation, run] of [
    ['query, top 10', (system, { vector }) => system.query(vector)],
    ['query, top 10, filter that 1 % match', (system, { vector }) => system.query(vector, 7)],
    ['keyword query, top 10', (system, { text }) => system.keyword(text)],
  ]) {
    const times = { bare: [], quiver: [] };
    for (const [round, question] of questions.entries()) {
      const [expected, found] = [await run(bare, question), await run(quiver, question)];
      if (expected.join() !== found.join() && operation !== 'keyword query, top 10')
        throw new Error(`${name}: ${operation} differs: ${expected} and ${found}`);
      for (const system of round % 2 ? ['bare', 'quiver'] : ['quiver', 'bare'])
        times[system].push(await measure(() => run({ bare, quiver }[system], question)));
    }
    rows.push(toRow(operation, { bare: times.bare.slice(3), quiver: times.quiver.slice(3) }, 'median'));
  }
  console.log(`${name}, ${rowCount} × ${dimension}, CPU time`);
  console.table(rows);
  await bare.close();
  await quiver.close();
}

async function measure(work) {
  const before = process.cpuUsage();
  const start = performance.now();
  await work();
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1000, elapsed };
}

function toRow(operation, { bare, quiver }, kind) {
  const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const timesOf = (system, time) => system.map((times) => times[time]);
  const total = (system) => (kind === 'sum' ? sum : median)(timesOf(system, 'cpu')).toFixed(1);
  const ratio = (time) => {
    const [ours, theirs] = [timesOf(quiver, time), timesOf(bare, time)];
    const found = kind === 'sum' ? sum(ours) / sum(theirs) : median(ours.map((value, at) => value / theirs[at]));
    return `${found.toFixed(2)}×`;
  };
  return {
    operation,
    'bare client, ms': total(bare),
    'Quiver, ms': total(quiver),
    ratio: ratio('cpu'),
    'ratio of elapsed time': ratio('elapsed'),
  };
}
