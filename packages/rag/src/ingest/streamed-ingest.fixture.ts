// Ingests 50,000 chunks with 1 KB of text each into a store that discards them, within --max-old-space-size.
import { MDocument } from '../document/document.js';
import type { VectorStore } from '../store/vector-store.js';
import { ingest } from './ingest.js';

const documents = 500;
const text = Array.from({ length: 100 }, (_, n) => `Paragraph ${n}. ${'Every paragraph becomes a chunk. '.repeat(30)}`);

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
  vectorStore: store as unknown as VectorStore,
  indexName: 'docs',
  model: { id: 'constant', embed: async (texts) => texts.map(() => new Float32Array(8).fill(1)) },
  chunkOptions: { maxSize: 1200, overlap: 0 },
});
process.stdout.write(String(stored));
