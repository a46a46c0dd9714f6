// The same server over standard input and output, for Cursor and Claude Desktop: node stdio.ts <index folder>
import { createDocsServer, openIndex } from './docs-server.ts';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Usage: node stdio.ts <index folder>');
const index = openIndex(folder);
if (!(await index.vectorStore.listIndexes()).includes(index.indexName))
  throw new Error(`${folder} has no index for the embedder ${index.model.id}. Index the documents first.`);
await createDocsServer(index).startStdio();
