// Compares stores with their bare clients:
//
//   pnpm --filter @quiver/benchmarks stores [-- --rounds 10] [--rows 10000] [--store libsql,lance,qdrant]
//
// Build first (`pnpm build`). The bare clients keep the same columns and the same full-text index. In each round, both run ten of the same
// operations, in turn; the table shows CPU time of this process, and the median of the ratios within a round or batch, of CPU time and of
// elapsed time. Qdrant has no server here: both clients talk to the stand-in of the tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../random.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { median, ratiosOf, table, timed, withSpread } from '../statistics.mjs';
import { lanceSystems } from './lance.mjs';
import { libsqlSystems } from './libsql.mjs';
import { qdrantSystems } from './qdrant.mjs';

const flags = readFlags({
  rounds: { type: 'string', default: '10' },
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
/** Ten for each round. The first round warms up. */
const questions = Array.from({ length: rounds + 1 }, () =>
  Array.from({ length: 10 }, () => ({
    vector: createVector(),
    text: [1, 2, 3].map(() => words[Math.floor(random() * words.length)]).join(' '),
  })),
);

const queries = {
  'top 10': (system, { vector }) => system.query(vector),
  'top 10, filter of 1 %': (system, { vector }) => system.query(vector, 7),
  'keyword query': (system, { text }) => system.keyword(text),
};

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
  const systems = { bare, quiver };
  const rows = [];
  const upserts = { bare: [], quiver: [] };
  for (let first = 0; first < rowCount; first += batchSize) {
    const upsert = async ({ upsert: write, prepare }) => {
      await write(records.slice(first, first + batchSize));
      if (first + batchSize >= rowCount) await prepare?.();
    };
    for (const system of inOrder(first / batchSize)) upserts[system].push(await timed(() => upsert(systems[system])));
  }
  rows.push(toRow(name, 'upsert all', upserts));
  for (const [operation, run] of Object.entries(queries)) {
    const times = { bare: [], quiver: [] };
    for (const [round, asked] of questions.entries()) {
      const found = { bare: [], quiver: [] };
      for (const system of inOrder(round)) {
        const ask = async () => {
          for (const question of asked) found[system].push((await run(systems[system], question)).join());
        };
        times[system].push(await timed(ask));
      }
      const at = found.bare.findIndex((ids, number) => ids !== found.quiver[number]);
      if (at !== -1 && operation !== 'keyword query')
        throw new Error(`${name}: ${operation} differs: ${found.bare[at]} and ${found.quiver[at]}`);
    }
    rows.push(toRow(name, operation, { bare: times.bare.slice(1), quiver: times.quiver.slice(1) }));
  }
  console.log(`${name}, ${rowCount} × ${dimension}, CPU time\n`);
  console.log(`${table(['', 'client by hand, ms', 'Quiver, ms', 'CPU time', 'elapsed time'], rows)}\n`);
  await bare.close();
  await quiver.close();
}

/** Each system is the first one in half of the rounds. */
function inOrder(round) {
  return round % 2 === 0 ? ['bare', 'quiver'] : ['quiver', 'bare'];
}

function toRow(store, operation, { bare, quiver }) {
  const valuesOf = (times, key) => times.map((time) => time[key]);
  const ratios = (key) => ratiosOf(valuesOf(quiver, key), valuesOf(bare, key));
  record(`stores/${store}/${operation}/cpu-to-client by hand/Quiver`, ratios('cpu'));
  const of = (times) => median(valuesOf(times, 'cpu')).toFixed(1);
  return [operation, of(bare), of(quiver), withSpread(ratios('cpu')), withSpread(ratios('elapsed'))];
}
