// Sizes of chunks, in keyword search: what is found among the passages that a model gets, and what they cost it. `!` marks a
// difference beyond chance (paired bootstrap).
//   npm run bench:sizes -- --data DIR # --sizes 1500,2000,4000 --collections cranfield,cisi
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLexicalEmbedder, createVectorQueryTool, ingest, MDocument } from '@quiver/rag';
import { RequestContext } from '@quiver/core/request-context';
import { compareMeans } from '@quiver/rag/evaluate';
import { LocalVector } from '@quiver/rag/local';
import { loadDocuments } from '@quiver/loaders';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { readFlags } from '../read-flags.mjs';
import { table } from '../statistics.mjs';
import { defaultCache, readDocuments } from './documents.mjs';
import { halves, readCases } from './halves.mjs';
import { containsAnswer } from './match.mjs';

const flags = readFlags({
  cache: { type: 'string', default: defaultCache },
  sizes: { type: 'string', default: '800,1000,1200,1500,1800,2000,2400,3000,4000' },
  data: { type: 'string', default: process.env.QUIVER_DATA },
  collections: { type: 'string', default: 'cranfield,cisi' },
});
/** Passages that a query tool returns by default. */
const shown = 10;
/** Passages that are read to fill a number of tokens. */
const depth = 40;
const metrics = {
  'hit@1': ({ rank }) => (rank <= 1 ? 1 : 0),
  'hit@3': ({ rank }) => (rank <= 3 ? 1 : 0),
  [`hit@${shown}`]: ({ rank }) => (rank <= shown ? 1 : 0),
  MRR: ({ rank }) => (rank <= shown ? 1 / rank : 0),
  'in 1,000 tokens': isWithin(1000),
  'in 3,000 tokens': isWithin(3000),
};
/** Whether the passages up to the answer, whole ones, have at most this number of tokens. */
function isWithin(tokens) {
  return ({ rank, sizes: own }) =>
    rank <= depth && own.slice(0, rank).reduce((sum, size) => sum + size, 0) <= tokens ? 1 : 0;
}
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const toFigure = (value) => value.toFixed(3).replace('0.', '.');
const sizes = flags.sizes.split(',').map(Number);
const parsed = mkdtempSync(join(tmpdir(), 'quiver-sizes-'));

const { folder, sources, missing } = readDocuments(flags.cache);
for (const sentence of missing) console.log(sentence);
const loadField = async () =>
  Array.fromAsync(loadDocuments(folder, { include: [...sources.keys()], cache: parsed, onSkip: () => undefined }));
const fieldCases = (half) =>
  readCases(half)
    .filter(({ answers }) => answers.length > 0 && sources.has(answers[0].source))
    .map(({ question, answers }) => ({
      question,
      isHit: (passage) => answers.some((answer) => containsAnswer(passage, answer)),
    }));
const byHalf = halves.map((half) => [half, fieldCases(half)]);
await compare('field', loadField, [...byHalf, ['both', byHalf.flatMap(([, cases]) => cases)]]);
rmSync(parsed, { recursive: true });
if (flags.data) for (const name of flags.collections.split(',')) await compareCollection(name);
else console.log('The collections are left out: --data or QUIVER_DATA names no folder.');

/** Prints a table with a row for each size, compared with the last one. */
async function compare(name, load, groups) {
  const rows = [];
  for (const maxSize of sizes) {
    const { search, count } = await open(await load(), maxSize);
    const asked = [];
    for (const [, cases] of groups) asked.push(await Promise.all(cases.map((one) => ask(one, search))));
    rows.push({ maxSize, count, asked });
  }
  const header = ['maxSize', 'chunks']
    .concat(Object.keys(metrics))
    .concat(
      Object.keys(metrics)
        .slice(1)
        .map((metric) => `${metric}: difference (95 %), lost · won`),
    )
    .concat('tokens of 3', `of ${shown}`, 'for each answer in 3', `in ${shown}`);
  for (const [index, [group]] of groups.entries()) {
    console.log(`\n${name}, ${group}: ${rows[0].asked[index].length} questions\n`);
    const cells = rows.map(({ maxSize, count, asked }) =>
      [maxSize, count].concat(toCells(asked[index], rows.at(-1).asked[index])),
    );
    console.log(table(header, cells));
  }
}

function toCells(asked, base) {
  const figures = Object.values(metrics);
  const means = figures.map((metric) => toFigure(mean(asked.map(metric))));
  const changes = figures.slice(1).map((metric) => {
    const { difference, wins, losses, isSignificant } = compareMeans(base.map(metric), asked.map(metric));
    const { mean: change, low, high } = difference;
    return `${toFigure(change)} (${toFigure(low)} – ${toFigure(high)})${isSignificant ? ' !' : ''}, ${losses} · ${wins}`;
  });
  const tokens = (most) => mean(asked.map(({ sizes: own }) => own.slice(0, most).reduce((sum, size) => sum + size, 0)));
  const forAnswer = (most) => tokens(most) / mean(asked.map(({ rank }) => (rank <= most ? 1 : 0)));
  const costs = [tokens(3), tokens(shown), forAnswer(3), forAnswer(shown)];
  return [...means, ...changes, ...costs.map(Math.round)];
}

async function ask({ question, isHit }, search) {
  const passages = await search(question);
  const at = passages.findIndex(isHit);
  return { rank: at === -1 ? Infinity : at + 1, sizes: passages.map(({ text }) => countTokens(text)) };
}

async function open(documents, maxSize) {
  const common = { vectorStore: new LocalVector(), indexName: 'sizes', model: createLexicalEmbedder() };
  const { added } = await ingest({ documents, ...common, chunkOptions: { maxSize } });
  const tool = createVectorQueryTool({ ...common, mode: 'keyword' });
  const search = async (queryText) => {
    const options = { onFailure: 'throw', requestContext: new RequestContext() };
    const { sources: found } = await tool.execute({ queryText, topK: depth }, options);
    return found.map(({ document, metadata: { source, alsoIn = [] } }) => ({
      text: document,
      sources: [source, ...alsoIn.map((place) => place.source ?? place)],
    }));
  };
  return { search, count: added };
}

/** A test collection of short texts: a passage answers if it is from a relevant document. */
async function compareCollection(name) {
  const read = async (file) =>
    (await readFile(join(flags.data, name, `${file}.jsonl`), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const [texts, queries, relevant] = await Promise.all(['docs', 'queries', 'qrels'].map(read));
  const wanted = Map.groupBy(relevant, ({ query }) => query);
  const cases = queries.map(({ id, text }) => {
    const ids = new Set(wanted.get(id)?.map(({ doc }) => doc));
    return { question: text, isHit: (passage) => passage.sources.some((source) => ids.has(source)) };
  });
  const load = () =>
    Promise.resolve(
      texts
        .filter(({ text }) => text.trim() !== '')
        .map(({ id, title, text }) => MDocument.fromText(text, { source: id, ...(title && { title }) })),
    );
  await compare(name, load, [['all', cases]]);
}
