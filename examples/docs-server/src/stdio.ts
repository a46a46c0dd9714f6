// The same server over standard input and output, for Cursor and Claude Desktop: node stdio.ts <index folder>
import { LocalVector } from '@quiver/rag/local';
import { createDocsServer } from './docs-server.ts';
import { chooseEmbedder } from './embedder.ts';
import { ExpectedError, toLine } from './expected-error.ts';

async function main(): Promise<void> {
  const [indexFolder] = process.argv.slice(2);
  if (!indexFolder) throw new ExpectedError('Usage: node stdio.ts <index folder>');
  const { embedder, indexName, description } = chooseEmbedder();
  const store = new LocalVector({ path: indexFolder });
  const existing = await store.listIndexes();
  if (!existing.includes(indexName)) {
    const found = existing.length > 0 ? `, only for ${existing.join(', ')}` : '';
    throw new ExpectedError(
      `${indexFolder} holds no index for the embedder (${description})${found}. Index the documents first.`,
    );
  }
  await createDocsServer({ store, indexName, embedder }).startStdio();
}

try {
  await main();
} catch (error) {
  // Standard output is reserved for MCP messages.
  console.error(toLine(error));
  process.exitCode = 1;
}
