// All benchmarks in one command:
//   npm run bench                      runs all parts, which takes hours; the machine has to be idle
//   npm run bench -- server client     runs these parts
//   --quick      the ratios of Quiver in five minutes, without systems that have to be installed
//   --write      stores the figures. A whole run stores them in benchmarks/figures.json, draws the plots, and writes the tables to
//                docs/reference/benchmarks/; a quick run stores them in benchmarks/quick.json, and writes the table of the ratios
// At the end it compares each figure of Quiver with the stored one. Without --write it exits with 1 if one is worse beyond the spreads.
// The programs install other systems at pinned versions, without install scripts, into temporary folders.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareFigures, comparisonTable, mergeFigures, ratiosTable, replaceRegion } from './figures.mjs';
import { drawPlots } from './plots.mjs';

/** Programs by part, in the order in which they run, each with its arguments; `quick` are those of a quick run, which leaves out parts without. */
const parts = {
  server: { file: 'mcp/server.mjs', args: '--with-anchors', quick: '--rounds 5 --seconds 0.1' },
  client: { file: 'mcp/client.mjs', args: '--with-anchors', quick: '--rounds 5 --seconds 0.1' },
  gateway: { file: 'mcp/gateway.mjs', args: '', quick: '--rounds 5 --calls 300' },
  traces: { file: 'core/traced-calls.mjs', args: '', quick: '--rounds 3 --share 0.1' },
  growth: { file: 'growth/growth.mjs', args: '--rounds 9', quick: '--rounds 9' },
  chunking: { file: 'chunking/chunking.mjs', args: '--with-anchors', quick: '--rounds 5 --megabytes 0.3' },
  ingestion: { file: 'ingestion/speed.mjs', args: '', quick: '--rounds 5 --documents 200' },
  reopened: { file: 'ingestion/reopened.mjs', args: '', quick: '--rounds 5' },
  loaders: { file: 'loaders/formats.mjs', args: '', quick: '--rounds 5 --megabytes 0.2' },
  retrieval: { file: 'retrieval/retrieval.mjs', args: '--with-anchors', quick: '--rounds 5 --queries 5 --texts 5000' },
  stores: { file: 'stores/stores.mjs', args: '', quick: '--rounds 5 --rows 3000' },
  graph: { file: 'graph/graph.mjs', args: '', quick: '--sizes 1000' },
  pg: { file: 'pg/pg.mjs', args: '--with-anchors', quick: '--rounds 10 --rows 3000', needs: 'QUIVER_POSTGRES_URL' },
  field: { file: 'field/field.mjs', args: '', quick: '--only quiver --half held-out' },
  quality: { file: 'quality/quality.mjs', args: '', needs: 'QUIVER_DATA' },
  'tool-search': { file: 'tool-search/tool-search.mjs', args: '', quick: '' },
};

const { values: flags, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !(name in parts));
if (unknown.length > 0)
  throw new Error(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}.`);

const here = fileURLToPath(new URL('.', import.meta.url));
const kind = flags.quick ? 'quick' : 'args';
const stored = new URL(flags.quick ? 'quick.json' : 'figures.json', import.meta.url);
const pages = globSync('../docs/reference/{benchmarks,benchmarks/*}.md', { cwd: here }).map((path) => join(here, path));
const folder = mkdtempSync(join(tmpdir(), 'quiver-bench-'));
const startedAt = performance.now();
const failed = [];
const measured = {};
for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
  const { needs } = parts[name];
  const reason =
    (parts[name][kind] === undefined && 'it has no quick run') ||
    (needs && !process.env[needs] && `${needs} is not set`);
  if (reason) {
    console.log(`\n# ${name}: skipped, because ${reason}\n`);
    continue;
  }
  console.log(`\n# ${name} (after ${secondsSince(startedAt)} s, load average ${loadavg()[0].toFixed(1)})\n`);
  const { output, figures, status } = await run(name);
  if (status !== 0) {
    failed.push(name);
    continue;
  }
  if (flags.write && !flags.quick) writeRegion(name, output);
  Object.assign(measured, figures);
}
rmSync(folder, { recursive: true });

const known = JSON.parse(readFileSync(stored, 'utf8'));
const compared = compareFigures(known, measured);
console.log(
  `\n# Compared with the stored figures, after ${secondsSince(startedAt)} s\n\n${comparisonTable(compared)}\n`,
);
if (flags.write) {
  const all = mergeFigures(known, measured);
  writeFileSync(stored, `${JSON.stringify(all, undefined, 2)}\n`);
  if (flags.quick) writeRegion('ratios', `${machine()}\n\n${ratiosTable(all)}`);
  else
    for (const [file, svg] of Object.entries(drawPlots(all)))
      writeFileSync(new URL(`../docs/images/${file}`, import.meta.url), svg);
  spawnSync('oxfmt', ['--write', ...pages, fileURLToPath(stored)], { stdio: 'inherit' });
}
for (const name of failed) console.error(`The part ${name} failed.`);
const worse = flags.write ? [] : compared.filter(({ outcome }) => outcome === 'worse');
for (const { name } of worse) console.error(`Worse than the stored figure, beyond both spreads: ${name}`);
process.exitCode = failed.length + worse.length > 0 ? 1 : 0;

function secondsSince(start) {
  return ((performance.now() - start) / 1000).toFixed(0);
}

function machine() {
  return `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, load average at the end ${loadavg()[0].toFixed(1)}`;
}

function writeRegion(name, output) {
  for (const page of pages) writeFileSync(page, replaceRegion(readFileSync(page, 'utf8'), name, output));
}

/** Runs the program of a part, and shows what it prints. */
async function run(name) {
  const { file, [kind]: words } = parts[name];
  const figuresFile = join(folder, `${name}.jsonl`);
  writeFileSync(figuresFile, '');
  const child = spawn(process.execPath, ['--expose-gc', join(here, file), ...words.split(' ').filter(Boolean)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_FIGURES: figuresFile },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    process.stdout.write(text);
  });
  const status = await new Promise((resolve) => child.on('close', resolve));
  const lines = readFileSync(figuresFile, 'utf8').split('\n').filter(Boolean);
  const figures = Object.fromEntries(
    lines.map((line) => {
      const { name: figure, ...rest } = JSON.parse(line);
      return [figure, rest];
    }),
  );
  return { output, figures, status };
}
