// Indexes texts in a folder until it is killed, and prints a line for each batch that is stored. Argument: the folder.
import { MDocument } from '../document/document.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { LocalVector } from '../stores/local/index.js';
import { ingest } from './ingest.js';

const [path] = process.argv.slice(2) as [string];
await ingest({
  documents: Array.from({ length: 20_000 }, (_, n) => MDocument.fromText(`Text ${n}.`, { source: `${n}.txt` })),
  vectorStore: new LocalVector({ path }),
  indexName: 'docs',
  model: createLexicalEmbedder({ dimension: 64 }),
  batchSize: 50,
  onProgress: () => process.stdout.write('stored\n'),
});
