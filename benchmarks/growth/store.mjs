import { ingest, MDocument } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { createCorpus } from '../chunking/corpus.mjs';
import { createRandom } from '../random.mjs';

const indexName = 'growth';
const dimension = 128;
const documentLength = 2000;

export async function vectorsCompared(count) {
  const random = createRandom(1);
  const vector = () => Float32Array.from({ length: dimension }, () => random() - 0.5);
  const store = new LocalVector();
  await store.createIndex({ indexName, dimension });
  await store.upsert({ indexName, vectors: Array.from({ length: count }, vector) });
  const queryVector = vector();
  return { run: () => store.query({ indexName, queryVector, topK: 10 }) };
}

export async function documentsSearched(count) {
  const store = await storeOf(count);
  const queryText = text.slice(0, 60);
  return { run: () => store.query({ indexName, queryText, mode: 'keyword', topK: 10 }) };
}

export function documentsIngested(count) {
  return { run: () => storeOf(count) };
}

const { text } = createCorpus(500 * documentLength);

async function storeOf(count) {
  const store = new LocalVector();
  const documents = Array.from({ length: count }, (_, index) => {
    const from = (index % 500) * documentLength;
    return MDocument.fromText(`${index}\n${text.slice(from, from + documentLength)}`, { source: `${index}.txt` });
  });
  const embedder = { id: 'benchmark', embed: async (list) => list.map(() => new Float32Array(8).fill(1)) };
  await ingest({
    documents,
    vectorStore: store,
    indexName,
    model: embedder,
    chunkOptions: { strategy: 'recursive', maxSize: 500 },
  });
  return store;
}
