// Documents in, questions answered over MCP. Read it from top to bottom: this is the whole program.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isToolFailure } from '@quiver/core/tools';
import { MCPClient } from '@quiver/mcp';
import { ingest, MDocument, type VectorQueryOutput } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { parseArguments, usage } from './arguments.ts';
import { createDocsServer } from './docs-server.ts';
import { chooseEmbedder } from './embedder.ts';
import { ExpectedError, toLine } from './expected-error.ts';
import { findDocuments } from './find-documents.ts';
import { printHit, seconds, since } from './print.ts';
import { createProgressBar } from './progress-bar.ts';

async function main(): Promise<void> {
  const { folder, questions, indexFolder, port, help } = parseArguments(process.argv.slice(2));
  if (help) return console.log(usage);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new ExpectedError('Interrupted. What was indexed so far is kept.')));

  // 1. Read the documents.
  const { root, files, skipped } = await findDocuments(folder);
  console.log(`Documents  ${files.length} Markdown files below ${root}`);
  for (const reason of skipped) console.log(`Skipped    ${reason}`);

  // 2. Chunk, embed and store them. Only what changed since the last run is embedded again.
  const { embedder, description, indexName } = chooseEmbedder();
  console.log(`Embedder   ${description}`);
  await mkdir(indexFolder, { recursive: true });
  await using store = new LocalVector({ path: indexFolder });
  const showProgress = createProgressBar('Indexing  ');
  const indexingStarted = performance.now();
  const report = await ingest({
    documents: files.map(({ path, text }) => MDocument.fromMarkdown(text, { source: path })),
    chunkOptions: { maxSize: 1200 },
    store,
    indexName,
    embedder,
    cleanup: 'all',
    onProgress: ({ documents, totalDocuments = documents }) => showProgress(documents, totalDocuments),
    signal: interrupted.signal,
  });
  console.log(
    `Indexed    ${report.added} passages embedded, ${report.unchanged} unchanged, ${report.removed} removed in ${since(indexingStarted)}`,
  );

  // 3. Serve a search tool over MCP, on this machine only.
  await using server = createDocsServer({ store, indexName, embedder });
  const { url } = await server.listen({ port });
  console.log(`Serving    ${url}`);

  // 4. Connect as any MCP client would, list the tools and ask.
  await using client = new MCPClient({ servers: { docs: { url } } });
  const { docs_searchDocs: searchDocs, ...others } = await client.listTools();
  if (!searchDocs) throw new ExpectedError('The server does not offer its search tool.');
  console.log(`Tools      docs_searchDocs${Object.keys(others).map((name) => `, ${name}`)}`);
  for (const queryText of questions) {
    const askingStarted = performance.now();
    const answer: unknown = await searchDocs.execute({ queryText, topK: 3 }, { abortSignal: interrupted.signal });
    if (isToolFailure(answer)) throw new ExpectedError(answer.message);
    // The tool declares this output, and the client has checked it.
    const { sources } = answer as VectorQueryOutput;
    console.log(`\nQuestion   ${queryText} (${seconds(performance.now() - askingStarted)})`);
    sources.forEach(printHit);
  }

  // 5. The same server, for Cursor and Claude Desktop.
  const stdioServer = fileURLToPath(new URL('stdio.ts', import.meta.url));
  const definition = {
    command: process.execPath,
    args: [stdioServer, indexFolder],
    ...(process.env['OPENAI_API_KEY'] && { env: { OPENAI_API_KEY: '<your key>' } }),
  };
  console.log('\nAdd it to Cursor (.cursor/mcp.json) or Claude Desktop (claude_desktop_config.json):\n');
  console.log(JSON.stringify({ mcpServers: { docs: definition } }, null, 2));
}

try {
  await main();
} catch (error) {
  console.error(toLine(error));
  process.exitCode = 1;
}
