// The same server over standard input and output, for Cursor and Claude Desktop: node stdio.ts <index folder> <index name>
import { LocalVector } from '@quiver/rag/local';
import { createDocsServer } from './docs-server.ts';
import { chooseEmbedder } from './embedder.ts';
import { toLine } from './expected-error.ts';

const [indexFolder, indexName] = process.argv.slice(2);
try {
  if (!indexFolder || !indexName) throw new Error('Usage: node stdio.ts <index folder> <index name>');
  const { embedder } = chooseEmbedder();
  const store = new LocalVector({ path: indexFolder });
  await createDocsServer({ store, indexName, embedder }).startStdio();
} catch (error) {
  // Standard output belongs to the protocol.
  console.error(toLine(error));
  process.exitCode = 1;
}
