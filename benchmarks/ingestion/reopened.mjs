// Cost of the first keyword and hybrid query of a reopened folder of LocalVector, in later ones:
//   node ingestion/reopened.mjs [--chunks 5000] [--rounds 7]
// CPU time of one process for each mode, which counts neither opening nor reading the vectors. Its first query also loads the modules of
// the languages; afterwards it opens the folder again in every round.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LocalVector } from '@quiver/rag/local';
import { createCorpus } from '../chunking/corpus.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { median, ratiosOf, table, timed, withSpread } from '../statistics.mjs';

const values = readFlags({
  chunks: { type: 'string', default: '5000' },
  rounds: { type: 'string', default: '7' },
  // For the processes that measure: the folder and the mode.
  folder: { type: 'string' },
  mode: { type: 'string' },
});
const count = Number(values.chunks);
const rounds = Number(values.rounds);
const length = 500;
const indexName = 'chunks';
const later = 20;
const { text } = createCorpus(count * length);

if (values.folder) process.stdout.write(JSON.stringify(await measure(values.folder, values.mode)));
else await main();

async function main() {
  const path = mkdtempSync(join(tmpdir(), 'quiver-reopened-'));
  try {
    await fill(path);
    const { first: analyzed } = await reopen(path, 'keyword');
    const bytes = statSync(join(path, `${indexName}.qvwords`)).size / count;
    console.log(
      `${count} chunks of ${length} characters; the first keyword query of all: ${analyzed.toFixed(0)} ms, it stores ${bytes.toFixed(0)} bytes a chunk; Node ${process.version}, load ${loadavg()[0].toFixed(1)}\n`,
    );
    const rows = ['keyword', 'hybrid'].flatMap((mode) => {
      const processes = Array.from({ length: rounds }, () => inNewProcess(path, mode));
      const fresh = processes.map(([first]) => first);
      return [toRow(`${mode}, new process`, fresh), toRow(mode, processes.at(-1).slice(1))];
    });
    console.log(table(['reopened', 'first query, CPU ms', 'a later one', 'ratio'], rows));
  } finally {
    rmSync(path, { recursive: true });
  }
}

async function fill(path) {
  await using store = new LocalVector({ path });
  await store.createIndex({ indexName, dimension: 1 });
  for (let n = 0; n < count; n += 1000) {
    const documents = Array.from({ length: Math.min(1000, count - n) }, (_, at) =>
      text.slice((n + at) * length, (n + at + 1) * length),
    );
    const ids = documents.map((_, at) => String(n + at));
    await store.upsert({ indexName, ids, vectors: ids.map(() => [1]), documents });
  }
}

function inNewProcess(folder, mode) {
  const flags = ['--folder', folder, '--mode', mode, '--chunks', values.chunks, '--rounds', values.rounds];
  return JSON.parse(execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...flags], { encoding: 'utf8' }));
}

/** @returns the times of the first opening in this process, and of further ones, of which the first is left out: it warms up */
async function measure(folder, mode) {
  const opened = [];
  for (let round = 0; round < rounds + 2; round += 1) opened.push(await reopen(folder, mode));
  return opened.toSpliced(1, 1);
}

/** @returns CPU milliseconds of the first query and of each later one */
async function reopen(path, mode) {
  await using store = new LocalVector({ path });
  await store.describeIndex({ indexName });
  const query = (n) => {
    const queryText = text.slice(n * length, n * length + 60);
    return store.query({ indexName, mode, queryText, topK: 10, ...(mode === 'hybrid' && { queryVector: [1] }) });
  };
  const first = await timed(() => query(0));
  const rest = await timed(async () => {
    for (let n = 1; n <= later; n += 1) await query(n * 7);
  });
  return { first: first.cpu, each: rest.cpu / later };
}

function toRow(name, measured) {
  const [first, each] = ['first', 'each'].map((key) => measured.map((one) => one[key]));
  const ratios = ratiosOf(first, each);
  record(`reopened/first query-to-a later one/Quiver, ${name}`, ratios);
  return [name, median(first).toFixed(1), median(each).toFixed(2), withSpread(ratios, 1)];
}
