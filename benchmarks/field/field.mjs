// Retrieval from documents as people have them: what is found in real files by questions as people type them.
//   npm run bench:field                               all systems, both halves
//   npm run bench:field -- --only quiver --half visible --format html --misses
// Downloads the documents (about 150 MB of packages from Debian and npm) into a cache on the first run. Prints only figures of the
// held-out half.
import { readFileSync, writeFileSync } from 'node:fs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { anchors, openAnchor } from './anchors.mjs';
import { defaultCache, readDocuments } from './documents.mjs';
import { halves, readCases, readHalves } from './halves.mjs';
import { countFlaws } from './junk.mjs';
import { findLost, measure } from './measure.mjs';
import { printChunks, printHalf, printMisses } from './print.mjs';
import { openQuiver } from './quiver.mjs';

const flags = readFlags({
  cache: { type: 'string', default: defaultCache },
  only: { type: 'string' },
  half: { type: 'string' },
  format: { type: 'string' },
  mode: { type: 'string' },
  packages: { type: 'string' },
  size: { type: 'string' },
  overlap: { type: 'string' },
  misses: { type: 'boolean', default: false },
  save: { type: 'string' },
});
if (flags.half !== undefined && !halves.includes(flags.half)) throw new Error(`--half is ${halves.join(' or ')}.`);
const formats = flags.format?.split(',') ?? [];
const { folder, sources: formatOf, missing } = readDocuments(flags.cache, formats);
for (const sentence of missing) console.log(sentence);
if (missing.length > 0)
  console.log('Their questions are left out, so the figures are not comparable with those of other runs.');

const halfOf = readHalves();
const cases = Object.fromEntries(halves.map((half) => [half, readCases(half).filter(isAsked)]));
for (const [half, own] of Object.entries(cases)) {
  const strays = own.flatMap(({ answers }) => answers.slice(0, 1)).filter(({ source }) => halfOf.get(source) !== half);
  if (strays.length > 0) throw new Error(`Not in the ${half} half: ${strays.map(({ source }) => source).join(', ')}`);
}
const reports = {};
for (const name of flags.only?.split(',') ?? ['quiver', ...anchors]) reports[name] = await report(name);
if (flags.save) save(reports);

/** Prints the figures of a system, and returns them. */
async function report(name) {
  const { chunks, systems, seconds, skipped } = await open(name);
  console.log(`\n${name}: ${formatOf.size} files read and stored in ${seconds.toFixed(0)} s`);
  for (const { path, reason } of skipped) console.log(`Skipped: ${path} (${reason})`);
  const flaws = countFlaws(chunks);
  printChunks(chunks.length, flaws);
  const figures = {};
  for (const half of flags.half ? [flags.half] : halves) {
    const lost = findLost(cases[half], chunks);
    const measured = {};
    for (const system of systems) {
      if (flags.mode && !flags.mode.split(',').includes(system.name)) continue;
      measured[system.name] = await measure(system, cases[half], formatOf);
    }
    printHalf(half, measured, lost.length);
    for (const [mode, { figures: own, separation }] of Object.entries(measured)) {
      const label = name === 'quiver' ? `Quiver, ${mode}` : labelOf(name);
      for (const metric of ['hit@1', 'hit@3', 'MRR']) record(`field/${half}/${metric}/${label}`, own[metric], 'most');
      record(`field/${half}/AUC/${label}`, separation, 'most');
    }
    if (flags.misses && half === 'visible') printMisses(measured, lost);
    const kept = Object.entries(measured).map(([mode, { asked: _asked, ...rest }]) => [mode, rest]);
    figures[half] = { lost: lost.length, ...Object.fromEntries(kept) };
  }
  return { chunks: chunks.length, flaws, ...figures };
}

/** `langchain?size=4000` is LangChain with chunks of 4,000 characters. */
function labelOf(anchor) {
  return anchor.replace('langchain', 'LangChain').replace('llamaindex', 'LlamaIndex').replace('?size=', ', chunks of ');
}

/** Whether a question is about the chosen formats and its documents are there. Questions without answers are always asked. */
function isAsked({ answers }) {
  return answers.length === 0 || formatOf.has(answers[0].source);
}

function open(name) {
  const sources = [...formatOf.keys()];
  if (anchors.includes(name)) return openAnchor(name, folder, { formatOf, cache: flags.cache });
  if (name !== 'quiver') throw new Error(`--only is a list of quiver, ${anchors.join(', ')}; not ${name}.`);
  const chunk = {
    ...(flags.size && { maxSize: Number(flags.size) }),
    ...(flags.overlap && { overlap: Number(flags.overlap) }),
  };
  return openQuiver(folder, {
    sources,
    ...(flags.packages && { packages: flags.packages }),
    chunk,
  });
}

/** Adds the figures to the results of earlier runs: `--save 386a0686` stores those of Quiver under that name. */
function save(all) {
  const file = new URL('results.json', import.meta.url);
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  for (const [name, report] of Object.entries(all)) stored[name === 'quiver' ? flags.save : name] = report;
  writeFileSync(
    file,
    `${JSON.stringify(stored, (_, value) => (typeof value === 'number' ? Number(value.toFixed(4)) : value), 2)}\n`,
  );
}
