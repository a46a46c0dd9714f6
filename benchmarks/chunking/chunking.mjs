// Speed of the chunking strategies, in MB per second of CPU time:
//   node chunking/chunking.mjs [--with-anchors] [--real] [--rounds 5] [--megabytes 2]
// --with-anchors also measures other packages. --real reads files of node_modules instead of one generated document.
// Every system runs in its own process. Every round measures every system once for each case, in turn; ratios are taken within a round,
// then their median.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../install-packages.mjs';
import { inputs } from './cases.mjs';
import { readDocuments } from './documents.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { median, ratiosOf, table, withSpread } from '../statistics.mjs';

const values = readFlags({
  'with-anchors': { type: 'boolean', default: false },
  real: { type: 'boolean', default: false },
  rounds: { type: 'string', default: '5' },
  megabytes: { type: 'string', default: '2' },
});

const anchorPackages = [
  '@mastra/rag@2.6.4',
  '@mastra/core@1.71.0',
  '@langchain/textsplitters@1.0.2',
  'js-tiktoken@1.0.21',
  '@chonkiejs/core@0.0.11',
];
// The published form of the package; its peer dependencies come from its own folder.
const built = new URL('../../packages/rag/dist/index.js', import.meta.url);
if (!existsSync(built)) throw new Error('Build the packages first: npx turbo run build');
const anchors = values['with-anchors'] ? installPackages(anchorPackages) : undefined;
const systems = {};
// `words` only divides the text at white space: the base of the ratios that need no installation.
for (const name of ['quiver', 'words', ...(anchors ? ['@mastra/rag', 'LangChain', 'chonkie'] : [])])
  systems[name] = await startSystem(name);

for (const [format, files] of values.real ? Object.entries(readDocuments(Number(values.megabytes), true).corpus) : []) {
  const bytes = files.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  console.log(`${format}: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`);
}
const rates = Object.fromEntries(Object.keys(inputs).map((name) => [name, {}]));
const longest = Object.fromEntries(Object.keys(inputs).map((name) => [name, {}]));
for (let round = 0; round <= Number(values.rounds); round++) {
  for (const name of Object.keys(inputs)) {
    for (const [system, run] of Object.entries(systems)) {
      const { rate, chunks } = await run(name);
      if (rate === undefined) continue;
      longest[name][system] = chunks;
      // Round 0 warms up.
      if (round > 0) (rates[name][system] ??= []).push(rate);
    }
  }
}

console.log(
  `Node ${process.version}, load ${loadavg()[0].toFixed(1)}; MB per second of CPU time, and how many times slower than Quiver\n`,
);
const names = Object.keys(systems);
const rows = Object.entries(rates).map(([name, measured]) => {
  const cells = names.map((system) => {
    if (!measured[system] || !measured.quiver) return '–';
    const rate = median(measured[system]);
    const ratios = ratiosOf(measured.quiver, measured[system]);
    if (system !== 'quiver') record(`chunking/${name}/speed-to-${system}/Quiver`, ratios, 'most');
    return system === 'quiver' ? rate.toFixed(rate < 10 ? 1 : 0) : `${rate.toPrecision(2)} · ${withSpread(ratios)}`;
  });
  return [name, ...cells];
});
console.log(table(['strategy', ...names], rows));
const lengths = Object.entries(longest).map(([name, found]) => [name, ...names.map((system) => found[system] ?? '–')]);
console.log(`\nChunks × length of the longest:\n\n${table(['strategy', ...names], lengths)}`);
anchors?.remove();
process.exit();

/** Starts a system in a process. @returns a function that runs one of its cases */
async function startSystem(name) {
  const file = fileURLToPath(new URL('system.mjs', import.meta.url));
  const child = fork(file, [name, anchors?.folder ?? '', values.megabytes, values.real ? 'real' : 'generated']);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${name} ended`);
  });
  await Promise.race([once(child, 'message'), ended]);
  return async (strategy) => {
    child.send(strategy);
    const [measured] = await Promise.race([once(child, 'message'), ended]);
    return measured;
  };
}
