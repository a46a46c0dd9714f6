// Indexes documents and answers questions about them over MCP. This file is the whole program, in order of execution.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isToolFailure } from '@quiver/core/tools';
import { graphToHtml, viewGraph } from '@quiver/devtools/graph';
import { loadDocuments } from '@quiver/loaders';
import { MCPClient } from '@quiver/mcp';
import { buildGraph, ingest, type GraphRAGOutput, type VectorQueryOutput } from '@quiver/rag';
import { parseArguments, usage } from './arguments.ts';
import { createDocsServer, openIndex } from './docs-server.ts';
import { printExploration, printHits, since } from './print.ts';

async function main(): Promise<void> {
  const { folder, patterns, questions, indexFolder, port, help } = parseArguments(process.argv.slice(2));
  if (help) return console.log(usage);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('Interrupted. The index keeps what is indexed so far.')));
  const { signal } = interrupted;

  // 1. Read the documents, chunk, embed and store them. Later runs embed only new and changed passages.
  const index = openIndex(indexFolder);
  await using _store = index.vectorStore;
  console.log(`Reading    ${folder}, for the embedder ${index.model.id}`);
  const indexingStarted = performance.now();
  const report = await ingest({
    ...index,
    documents: loadDocuments(folder, {
      ...patterns,
      signal,
      onSkip: ({ path, reason }) => console.log(`Skipped    ${path}: ${reason}`),
    }),
    chunkOptions: { maxSize: 1200 },
    cleanup: 'all',
    onProgress: ({ documents }) => process.stderr.write(`\rIndexing   ${documents} documents\r`),
    signal,
  });
  if (report.documents === 0) throw new Error(`There are no documents in ${folder}.`);
  // A passage whose neighbor changed is stored again, because it names its neighbor.
  const unchanged = report.unchanged + report.moved;
  console.log(
    `Indexed    ${report.documents} documents: ${report.added} passages embedded, ${unchanged} unchanged, ${report.removed} removed in ${since(indexingStarted)}`,
  );

  // 2. Connect the passages by links, names, order and similarity. The store persists the graph alongside the index.
  const connectingStarted = performance.now();
  const { vectorStore, indexName } = index;
  const graph = await buildGraph({ vectorStore, indexName, signal });
  console.log(`Connected  ${graph.nodes} passages by ${graph.edges} connections in ${since(connectingStarted)}`);

  // 3. Serve the tools over MCP, on a loopback address.
  await using server = createDocsServer(index);
  const { url } = await server.listen({ port });
  console.log(`Serving    ${url}`);

  // 4. Print the configuration of the same server for Cursor and Claude Desktop.
  const definition = {
    command: process.execPath,
    // With the options of this process, which `npm run demo` uses to run the sources of the packages.
    args: [...process.execArgv, fileURLToPath(new URL('stdio.ts', import.meta.url)), indexFolder],
    ...(process.env['OPENAI_API_KEY'] && { env: { OPENAI_API_KEY: '<your key>' } }),
  };
  console.log('\nAdd it to Cursor (.cursor/mcp.json) or Claude Desktop (claude_desktop_config.json):\n');
  console.log(JSON.stringify({ mcpServers: { docs: definition } }, null, 2));

  // 5. Connect an MCP client, list the tools and call them.
  await using client = new MCPClient({ servers: { docs: { url } } });
  const tools = await client.listTools();
  console.log(`\nTools      ${Object.keys(tools).join(', ')}`);
  const ask = async <Output>(name: string, queryText: string, topK: number): Promise<Output> => {
    const answer: unknown = await tools[name]?.execute({ queryText, topK }, { abortSignal: signal });
    if (isToolFailure(answer)) throw new Error(answer.message);
    // The tool declares this output schema, and the client has validated the result.
    return answer as Output;
  };
  for (const queryText of questions) {
    const askingStarted = performance.now();
    const found = await ask<VectorQueryOutput>('docs_searchDocs', queryText, 3);
    // The first query also builds the keyword index.
    console.log(`\nQuestion   ${queryText} (${since(askingStarted)})`);
    printHits(found);
  }

  // 6. See what the graph finds in addition, for the last question.
  const last = questions.at(-1) as string;
  console.log(`\nExplored   ${last}`);
  const searched = await ask<VectorQueryOutput>('docs_searchDocs', last, 10);
  printExploration(searched, await ask<GraphRAGOutput>('docs_exploreDocs', last, 10));
  const picture = join(indexFolder, 'graph.html');
  await writeFile(picture, await graphToHtml(await viewGraph({ ...index, queryText: last })));
  console.log(`  The graph around it: ${pathToFileURL(picture).href}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message.split('\n', 1)[0] : error);
  process.exitCode = 1;
}
