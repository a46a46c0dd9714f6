// Keyword, vector and hybrid search side by side, with embedders of different quality, over the documents of the field benchmark:
//   node scripts/bootstrap.mjs run-built benchmarks/field/embedders.mjs [--anchors] [--encoder] [--seeds 3]
// With --anchors, also the EnsembleRetriever of LangChain.js and the index of LlamaIndex.TS, over the same chunks and with the same vectors; with
// --encoder, also the encoder of the guide, which embeds the chunks for 10 minutes of one core on the first run.
import { retrieve } from '@quiver/rag';
import { installPackages } from '../install-packages.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { defaultCache } from './documents.mjs';
import { encoderRun, fillStore, indexName, lexicalRun, plantedRun, readField } from './embedder-runs.mjs';

const flags = readFlags({
  cache: { type: 'string', default: defaultCache },
  seeds: { type: 'string', default: '3' },
  anchors: { type: 'boolean', default: false },
  encoder: { type: 'boolean', default: false },
});
const field = await readField(flags.cache);
const { chunks, texts, cases } = field;
const anchors = flags.anchors ? await loadAnchors() : [];

const rows = [];
for (const { name, runs } of [
  { name: 'lexical embedder', runs: [lexicalRun(field)] },
  ...(flags.encoder ? [{ name: '`@energetic-ai`', runs: [await encoderRun(field, flags.cache)] }] : []),
  ...[0, 0.3, 0.6, 0.9].map((quality) => ({
    name: `planted, ${quality}`,
    runs: Array.from({ length: Number(flags.seeds) }, (_, seed) => plantedRun(field, quality, seed + 1)),
  })),
]) {
  const measured = [];
  for (const run of runs) measured.push(await measure(run));
  const systems = Object.keys(measured[0]);
  const means = systems.map((system) => {
    const figures = measured.map((one) => one[system]);
    return [0, 1].map((at) => figures.reduce((sum, own) => sum + own[at], 0) / figures.length);
  });
  for (const [at, system] of systems.entries()) record(`embedders/hit@3/${name}, ${system}`, means[at][0], 'most');
  rows.push([name, ...means.map(([hit, mrr]) => `${hit.toFixed(3)} · ${mrr.toFixed(3)}`)]);
  if (rows.length === 1)
    console.log(
      `\n${chunks.length} chunks, ${cases.length} questions, hit@3 · MRR@10\n\n${toLine(['', ...systems])}\n${toLine(['', ...systems].map(() => '---'))}`,
    );
  console.log(toLine(rows.at(-1)));
}
process.exit(0);

function toLine(cells) {
  return `| ${cells.join(' | ')} |`;
}

/** Returns hit@3 and MRR@10 of each system. */
async function measure({ embedder, vectors: makeVectors }) {
  const vectors = await makeVectors();
  const store = await fillStore(field, vectors);
  const ids = chunks.map(({ id }) => id);
  const search = (mode) => async (question) => {
    const fusion = mode === 'hybrid' ? { vector: 1 } : undefined;
    const { matches } = await retrieve({ vectorStore: store, indexName, model: embedder, question, mode, fusion });
    return matches.map(({ id, metadata: { alsoIn = [] } }) => [id, ...alsoIn.map((place) => place.id)]);
  };
  const systems = { keyword: search('keyword'), vector: search('vector'), hybrid: search('hybrid') };
  const embedQuery = async (text) => [...(await embedder.embed([text], { purpose: 'query' }))[0]];
  for (const [name, open] of anchors) {
    const find = await open({ embedQuery, vectors: vectors.map((vector) => [...vector]) });
    systems[name] = async (question) => (await find(question)).map((place) => [ids[place]]);
  }
  const figures = {};
  for (const [name, find] of Object.entries(systems)) {
    const ranks = [];
    for (const { question, relevant } of cases) {
      const found = (await find(question)).slice(0, 10);
      ranks.push(found.findIndex((own) => own.some((id) => relevant.includes(id))) + 1);
    }
    const mean = (score) => ranks.reduce((sum, rank) => sum + score(rank), 0) / ranks.length;
    figures[name] = [mean((rank) => (rank > 0 && rank <= 3 ? 1 : 0)), mean((rank) => (rank > 0 ? 1 / rank : 0))];
  }
  return figures;
}

async function loadAnchors() {
  const langchain = ['@langchain/community@1.1.29', '@langchain/core@1.4.0', '@langchain/classic@1.0.50'];
  const llamaindex = ['llamaindex@0.12.1', '@llamaindex/core@0.6.23'];
  const { openEnsemble } = await loadAnchor(langchain, 'ensemble.mjs');
  const { openIndex } = await loadAnchor(llamaindex, 'llamaindex-index.mjs');
  return [
    ['LangChain.js, ensemble', openEnsemble(texts)],
    ['LlamaIndex.TS, vectors', openIndex(texts)],
  ];
}

async function loadAnchor(packages, program) {
  const { load, remove } = installPackages(packages, [new URL(`anchors/${program}`, import.meta.url)]);
  const module = await load(program);
  remove();
  return module;
}
