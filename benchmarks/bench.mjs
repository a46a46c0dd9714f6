// All benchmarks in one command:
//   npm run bench                      runs all parts, which takes hours; the machine has to be idle
//   npm run bench -- server client     runs these parts
//   --quick      fewer and shorter rounds, without systems that have to be installed: minutes
//   --write      stores the figures in benchmarks/figures.json, draws the plots, and writes the tables to docs/reference/benchmarks/
// At the end it compares each figure of Quiver with the stored one. Without --write it exits with 1 if one is worse beyond the spreads.
// The programs install other systems at pinned versions, without install scripts, into temporary folders.
import { spawn, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareFigures, comparisonTable, mergeFigures, replaceRegion } from './figures.mjs';
import { drawPlots } from './plots.mjs';

/** Programs by part, in the order in which they run, each with the arguments of a short run. */
const parts = {
  server: { file: 'mcp/server.mjs', args: ['--with-anchors'], quick: ['--rounds', '3', '--seconds', '0.3'] },
  client: { file: 'mcp/client.mjs', args: ['--with-anchors'], quick: ['--rounds', '3', '--seconds', '0.3'] },
  growth: { file: 'growth/growth.mjs', args: ['--rounds', '9'], quick: ['--rounds', '9'] },
  chunking: { file: 'chunking/chunking.mjs', args: ['--with-anchors'], quick: ['--rounds', '2'] },
  ingestion: { file: 'ingestion/speed.mjs', args: [], quick: ['--rounds', '2'] },
  reopened: { file: 'ingestion/reopened.mjs', args: [], quick: ['--rounds', '3'] },
  loaders: { file: 'loaders/formats.mjs', args: [], quick: ['--rounds', '2'] },
  field: { file: 'field/field.mjs', args: [], quick: ['--only', 'quiver', '--half', 'held-out'] },
  quality: { file: 'quality/quality.mjs', args: [], quick: [], needs: 'QUIVER_DATA' },
  'tool-search': { file: 'tool-search/tool-search.mjs', args: [], quick: [] },
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
if (flags.write && flags.quick) throw new Error('--write stores the figures of whole runs: leave out --quick.');

const here = fileURLToPath(new URL('.', import.meta.url));
const stored = new URL('figures.json', import.meta.url);
const pages = globSync('../docs/reference/{benchmarks,benchmarks/*}.md', { cwd: here }).map((path) => join(here, path));
const folder = mkdtempSync(join(tmpdir(), 'quiver-bench-'));
const failed = [];
const measured = {};
for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
  const { needs } = parts[name];
  if (needs && !process.env[needs]) {
    console.log(`\n# ${name}: skipped, because ${needs} is not set\n`);
    continue;
  }
  console.log(`\n# ${name} (load average ${loadavg()[0].toFixed(1)})\n`);
  const { output, figures, status } = await run(name);
  if (status !== 0) failed.push(name);
  else if (flags.write)
    for (const page of pages) writeFileSync(page, replaceRegion(readFileSync(page, 'utf8'), name, output));
  Object.assign(measured, figures);
}
rmSync(folder, { recursive: true });

const known = JSON.parse(readFileSync(stored, 'utf8'));
const compared = compareFigures(known, measured);
console.log(`\n# Compared with the stored figures\n\n${comparisonTable(compared)}\n`);
if (flags.write) {
  const all = mergeFigures(known, measured);
  writeFileSync(stored, `${JSON.stringify(all, undefined, 2)}\n`);
  for (const [file, svg] of Object.entries(drawPlots(all)))
    writeFileSync(new URL(`../docs/images/${file}`, import.meta.url), svg);
  spawnSync('oxfmt', ['--write', ...pages, fileURLToPath(stored)], { stdio: 'inherit' });
}
for (const name of failed) console.error(`The part ${name} failed.`);
process.exitCode = failed.length > 0 || (!flags.write && compared.some(({ outcome }) => outcome === 'worse')) ? 1 : 0;

/** Runs the program of a part, and shows what it prints. */
async function run(name) {
  const { file, args, quick } = parts[name];
  const figuresFile = join(folder, `${name}.jsonl`);
  writeFileSync(figuresFile, '');
  const child = spawn(process.execPath, [join(here, file), ...(flags.quick ? quick : args)], {
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
