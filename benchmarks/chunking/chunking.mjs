// Speed of the chunking strategies, in MB per second of CPU time:
//   node chunking/chunking.mjs [--with-anchors] [--real] [--rounds 5] [--megabytes 2]
// --with-anchors also measures other packages. --real reads files of node_modules instead of one generated document.
// Every round measures every system once for each case, in turn; ratios are taken within a round, then their median.
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPackages } from '../install-packages.mjs';
import { chonkieCases, inputs, langchainCases, mastraCases, quiverCases } from './cases.mjs';
import { createCorpus } from './corpus.mjs';
import { readRealFiles } from './real-files.mjs';
import { readFlags } from '../read-flags.mjs';

// One of the anchors logs a warning for every chunk above the size limit; the second table contains the lengths.
console.warn = () => {};

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
const systems = { quiver: quiverCases(await import(built.href)) };
const anchors = values['with-anchors'] ? installPackages(anchorPackages) : undefined;
if (anchors) await addAnchors(anchors);
else
  console.log(
    'Only Quiver is measured. --with-anchors installs the others (about 200 MB) into a temporary folder first.\n',
  );

const corpus = values.real
  ? readRealFiles(Number(values.megabytes) * 1e6)
  : createCorpus(Number(values.megabytes) * 1e6);
/** For each case, a list of documents. */
const documents = Object.fromEntries(
  Object.entries(inputs).map(([name, [format, part]]) => {
    if (values.real) {
      const files = corpus[format] ?? [];
      return [name, files.slice(0, Math.ceil(files.length * part))];
    }
    const text = corpus[format];
    // A part of a JSON document is not valid JSON.
    return [name, [format === 'json' ? text : text.slice(0, Math.ceil(text.length * part))]];
  }),
);
for (const [format, files] of Object.entries(values.real ? corpus : {})) {
  const bytes = files.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  console.log(`${format}: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`);
}
const rates = Object.fromEntries(Object.keys(inputs).map((name) => [name, {}]));
const longest = Object.fromEntries(Object.keys(inputs).map((name) => [name, {}]));
for (let round = 0; round <= Number(values.rounds); round++) {
  for (const [name, texts] of Object.entries(documents)) {
    if (texts.length === 0) continue;
    for (const [system, cases] of Object.entries(systems)) {
      if (!cases[name]) continue;
      const chunks = [];
      const before = process.cpuUsage();
      for (const text of texts) chunks.push(...(await cases[name](text)));
      const { user, system: kernel } = process.cpuUsage(before);
      const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      longest[name][system] = `${chunks.length} × ≤ ${chunks.reduce((most, chunk) => Math.max(most, chunk.length), 0)}`;
      // Round 0 warms up.
      if (round > 0) (rates[name][system] ??= []).push(bytes / (user + kernel));
    }
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
console.log(
  `Node ${process.version}, load ${loadavg()[0].toFixed(1)}; MB per second of CPU time, in brackets how many times slower than Quiver\n`,
);
const names = Object.keys(systems);
console.log(`| strategy | ${names.join(' | ')} |\n|---|${names.map(() => '---').join('|')}|`);
for (const [name, measured] of Object.entries(rates)) {
  if (!measured.quiver) continue;
  const cells = names.map((system) => {
    if (!measured[system]) return '–';
    const rate = median(measured[system]);
    const ratio = median(measured.quiver.map((own, round) => own / measured[system][round]));
    return system === 'quiver' ? rate.toFixed(rate < 10 ? 1 : 0) : `${rate.toPrecision(2)} (${ratio.toPrecision(2)}×)`;
  });
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
console.log(
  `\nChunks × length of the longest:\n\n| strategy | ${names.join(' | ')} |\n|---|${names.map(() => '---').join('|')}|`,
);
for (const [name, found] of Object.entries(longest))
  console.log(`| ${name} | ${names.map((system) => found[system] ?? '–').join(' | ')} |`);
anchors?.remove();

async function addAnchors({ folder, load }) {
  systems['@mastra/rag'] = mastraCases(await load('@mastra/rag'));
  systems.LangChain = langchainCases(await load('@langchain/textsplitters'), await load('js-tiktoken'));
  systems.chonkie = await chonkieCases(
    await import(pathToFileURL(join(folder, 'node_modules/@chonkiejs/core/dist/index.js')).href),
  );
}
