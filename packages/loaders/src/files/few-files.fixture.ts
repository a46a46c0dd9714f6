// Ingests a folder while the process can open only one more file: `few-files.fixture.ts <folder>`. Prints the sources before and after.
import { closeSync, openSync } from 'node:fs';
import { createLexicalEmbedder, ingest } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { loadDocuments } from './load-documents.js';

const [folder = ''] = process.argv.slice(2);
const vectorStore = new LocalVector();
const index = { vectorStore, indexName: 'notes', model: createLexicalEmbedder() };
const codes: unknown[] = [];
const run = async (): Promise<number> => {
  const onSkip = ({ error }: { error?: unknown }): unknown => codes.push((error as NodeJS.ErrnoException).code);
  await ingest({ ...index, documents: loadDocuments(folder, { onSkip }), cleanup: 'all' });
  return (await vectorStore.scan({ indexName: 'notes' })).records.length;
};
const before = await run();
const open: number[] = [];
try {
  for (;;) open.push(openSync(folder, 'r'));
} catch {
  // One for the folder.
  closeSync(open.pop() as number);
}
const after = await run();
for (const descriptor of open) closeSync(descriptor);
console.log(JSON.stringify({ before, after, codes: [...new Set(codes)] }));
