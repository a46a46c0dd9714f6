// Runs the cases of one system in a separate process, so that the garbage and the types of other systems do not affect it.
// Arguments: name of the system, folder of the installed packages, megabytes, and `real` for files of node_modules.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chonkieCases, inputs, langchainCases, mastraCases, quiverCases } from './cases.mjs';
import { timed } from '../statistics.mjs';
import { readDocuments } from './documents.mjs';

// One of the anchors logs a warning for every chunk above the size limit; the second table contains the lengths.
console.warn = () => {};

const [name, folder, megabytes, kind] = process.argv.slice(2);
const systems = {
  quiver: async () => quiverCases(await import(new URL('../../packages/rag/dist/index.js', import.meta.url).href)),
  words: async () => Object.fromEntries(Object.keys(inputs).map((key) => [key, (text) => text.split(/\s+/)])),
  '@mastra/rag': async () => mastraCases(await load('@mastra/rag')),
  LangChain: async () => langchainCases(await load('@langchain/textsplitters'), await load('js-tiktoken')),
  chonkie: async () =>
    chonkieCases(await import(pathToFileURL(join(folder, 'node_modules/@chonkiejs/core/dist/index.js')).href)),
};
const cases = await systems[name]();
const { documents } = readDocuments(Number(megabytes), kind === 'real');

const warm = new Set();

process.on('message', async (strategy) => {
  const texts = documents[strategy];
  if (!cases[strategy] || texts.length === 0) return process.send({});
  if (!warm.has(strategy)) await warmUp(strategy, texts);
  const chunks = [];
  const { cpu } = await timed(async () => {
    for (const text of texts) chunks.push(...(await cases[strategy](text)));
  });
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const longest = chunks.reduce((most, chunk) => Math.max(most, chunk.length), 0);
  process.send({ rate: bytes / cpu / 1000, chunks: `${chunks.length} × ≤ ${longest}` });
});
process.send({});

/** Runs a case until its code is compiled: ten times, but not longer than three seconds. After one run, `json` is three times slower. */
async function warmUp(strategy, texts) {
  warm.add(strategy);
  const startedAt = performance.now();
  for (let run = 0; run < 10 && performance.now() - startedAt < 3000; run++)
    for (const text of texts) await cases[strategy](text);
}

/** Imports a package from the folder, in the form that `require` loads. */
async function load(packageName) {
  return import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve(packageName)).href);
}
