// Indexes documents and answers questions about them over MCP. This file is the whole program, in order of execution.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isToolFailure } from '@quiver/core/tools';
import { MCPClient } from '@quiver/mcp';
import { buildGraph, ingest, MDocument, type GraphRAGOutput, type VectorQueryOutput } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { parseArguments, usage } from './arguments.ts';
import { createDocsServer } from './docs-server.ts';
import { chooseEmbedder } from './embedder.ts';
import { ExpectedError, toLine } from './expected-error.ts';
import { compared, drawGraph, ownExploration, printExploration } from './explore.ts';
import { findDocuments } from './find-documents.ts';
import { printHit, seconds, since } from './print.ts';
import { createProgressBar } from './progress-bar.ts';

async function main(): Promise<void> {
  const { folder, questions, indexFolder, port, help } = parseArguments(process.argv.slice(2));
  if (help) return console.log(usage);
  const interrupted = new AbortController();
  process.once('SIGINT', () =>
    interrupted.abort(new ExpectedError('Interrupted. The index keeps the documents indexed so far.')),
  );

  // 1. Read the documents.
  const { root, files, skipped } = await findDocuments(folder);
  console.log(`Documents  ${files.length} Markdown files below ${root}`);
  for (const reason of skipped) console.log(`Skipped    ${reason}`);

  // 2. Chunk, embed and store them. Later runs embed only new and changed passages.
  const { embedder, description, indexName } = chooseEmbedder();
  console.log(`Embedder   ${description}`);
  await mkdir(indexFolder, { recursive: true });
  await using store = new LocalVector({ path: indexFolder });
  const showProgress = createProgressBar('Indexing  ');
  const indexingStarted = performance.now();
  const report = await ingest({
    documents: files.map(({ path, text }) => MDocument.fromMarkdown(text, { source: path })),
    chunkOptions: { maxSize: 1200 },
    vectorStore: store,
    indexName,
    model: embedder,
    cleanup: 'all',
    onProgress: ({ documents, totalDocuments = documents }) => showProgress(documents, totalDocuments),
    signal: interrupted.signal,
  });
  // A passage whose neighbor changed is stored again, because it names its neighbor.
  const unchanged = report.unchanged + report.moved;
  console.log(
    `Indexed    ${report.added} passages embedded, ${unchanged} unchanged, ${report.removed} removed in ${since(indexingStarted)}`,
  );

  // 3. Connect the passages by links, names, order and similarity. The store persists the graph alongside the index.
  const connectingStarted = performance.now();
  const showConnected = createProgressBar('Connecting');
  const graph = await buildGraph({
    vectorStore: store,
    indexName,
    onProgress: ({ passages, done }) => done !== undefined && showConnected(Math.round(done * passages), passages),
    signal: interrupted.signal,
  });
  console.log(`Connected  ${graph.nodes} passages by ${graph.edges} connections in ${since(connectingStarted)}`);

  // 4. Serve the tools over MCP, on a loopback address.
  await using server = createDocsServer({ store, indexName, embedder });
  const { url } = await server.listen({ port });
  console.log(`Serving    ${url}`);

  // 5. Connect an MCP client, list the tools and call them.
  await using client = new MCPClient({ servers: { docs: { url } } });
  const tools = await client.listTools();
  console.log(`Tools      ${Object.keys(tools).join(', ')}`);
  const ask = async <Output>(name: string, queryText: string, topK: number): Promise<Output> => {
    const answer: unknown = await tools[name]?.execute({ queryText, topK }, { abortSignal: interrupted.signal });
    if (isToolFailure(answer)) throw new ExpectedError(answer.message);
    // The tool declares this output schema, and the client has validated the result.
    return answer as Output;
  };
  for (const queryText of questions) {
    const askingStarted = performance.now();
    const { sources } = await ask<VectorQueryOutput>('docs_searchDocs', queryText, 3);
    // The first query also builds the index of words.
    console.log(`\nQuestion   ${queryText} (${seconds(performance.now() - askingStarted)})`);
    sources.forEach(printHit);
  }

  // 6. Compare search and graph for a question whose answer is spread over several documents.
  const exploration = folder === undefined ? ownExploration : { question: questions.at(-1) as string };
  const searched = await ask<VectorQueryOutput>('docs_searchDocs', exploration.question, compared);
  const exploringStarted = performance.now();
  const explored = await ask<GraphRAGOutput>('docs_exploreDocs', exploration.question, compared);
  printExploration(exploration, searched, explored, performance.now() - exploringStarted);
  const picture = { store, indexName, embedder, question: exploration.question, folder: indexFolder };
  console.log(`  The graph around it: ${await drawGraph(picture)}`);

  // 7. Print the configuration of the same server for Cursor and Claude Desktop.
  const stdioServer = fileURLToPath(new URL('stdio.ts', import.meta.url));
  const definition = {
    command: process.execPath,
    // With the options of this process, which `npm run demo` uses to run the sources of the packages.
    args: [...process.execArgv, stdioServer, indexFolder],
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
