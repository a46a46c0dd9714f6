// Compares embedded stores with their bare clients:
//
//   pnpm --filter @quiver/benchmarks stores [-- --rounds 30] [--rows 10000]
//
// Build first (`pnpm build`). The bare clients keep the same columns and the same full-text index. In each round, both run the same
// operation, in turn; the table shows CPU time of this process, and the median of the ratios within a round.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../random.mjs';
import { readFlags } from '../read-flags.mjs';
import { lanceSystems } from './lance.mjs';
import { libsqlSystems } from './libsql.mjs';

const flags = readFlags({
  rounds: { type: 'string', default: '30' },
  rows: { type: 'string', default: '10000' },
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
  for (const createSystems of [libsqlSystems, lanceSystems]) await compare(await createSystems({ folder, dimension }));
} finally {
  rmSync(folder, { recursive: true });
}

async function compare({ name, bare, quiver }) {
  const rows = [];
  const upserts = { bare: [], quiver: [] };
  for (let start = 0; start < rowCount; start += batchSize) {
    const batch = records.slice(start, start + batchSize);
    const order = start % (2 * batchSize) === 0 ? ['bare', 'quiver'] : ['quiver', 'bare'];
    for (const system of order) upserts[system].push(await cpuTime(() => ({ bare, quiver })[system].upsert(batch)));
  }
  upserts.bare.push(await cpuTime(async () => bare.prepare?.()));
  upserts.quiver.push(await cpuTime(async () => quiver.prepare?.()));
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
        times[system].push(await cpuTime(() => run({ bare, quiver }[system], question)));
    }
    rows.push(toRow(operation, { bare: times.bare.slice(3), quiver: times.quiver.slice(3) }, 'median'));
  }
  console.log(`${name}, ${rowCount} × ${dimension}, CPU time`);
  console.table(rows);
  await bare.close();
  await quiver.close();
}

async function cpuTime(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function toRow(operation, { bare, quiver }, kind) {
  const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const total = kind === 'sum' ? sum : median;
  const ratio = kind === 'sum' ? sum(quiver) / sum(bare) : median(quiver.map((time, at) => time / bare[at]));
  return {
    operation,
    'bare client, ms': total(bare).toFixed(1),
    'Quiver, ms': total(quiver).toFixed(1),
    ratio: `${ratio.toFixed(2)}×`,
  };
}
