import { loadDocuments } from '@quiver/loaders';
import { createLexicalEmbedder, ingest, retrieve } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';

const [folder = '.', question = ''] = process.argv.slice(2);
const index = {
  vectorStore: new LocalVector(), // with { path }, it stays on the disk
  indexName: 'notes',
  model: createLexicalEmbedder(), // needs no model, key or network
};
await ingest({ ...index, documents: loadDocuments(folder) });

const { matches } = await retrieve({ ...index, question, mode: 'hybrid' });
for (const { confidence, document } of matches.slice(0, 3))
  console.log(`${confidence} ${document}`);
