// Ingests 200,000 chunks into a store that keeps nothing, with as little memory as its --max-old-space-size allows.
import { MDocument } from '../document/document.js';
import type { VectorStore } from '../store/vector-store.js';
import { ingest } from './ingest.js';

const documents = 2000;
const text = Array.from({ length: 100 }, (_, n) => `Paragraph ${n} of some length, so that every one becomes a chunk.`);

async function* read(): AsyncGenerator<MDocument> {
  for (let n = 0; n < documents; n += 1) {
    yield MDocument.fromText(text.map((line) => `${n} ${line}`).join('\n\n'), { source: `${n}.txt` });
  }
}

let stored = 0;
const store = {
  listIndexes: async () => [],
  createIndex: async () => undefined,
  upsert: async ({ ids = [] }) => {
    stored += ids.length;
    return [...ids];
  },
} satisfies Partial<VectorStore>;

await ingest({
  documents: read(),
  // As much of a store as a first run asks of it.
  store: store as unknown as VectorStore,
  indexName: 'docs',
  embedder: { id: 'zero', embed: async (texts) => texts.map(() => new Float32Array(384)) },
  chunkOptions: { maxSize: 80, overlap: 0 },
});
process.stdout.write(String(stored));
