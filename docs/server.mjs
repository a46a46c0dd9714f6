#!/usr/bin/env node
// An MCP server over the pages of this folder, for assistants that write programs with Quiver: `npx -y @quiver/docs`. It reads and indexes
// them when it starts, in less than a second, without a key or a network.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { createGraphRAGTool, createLexicalEmbedder, createVectorQueryTool, ingest, MDocument } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { z } from 'zod';

const folder = fileURLToPath(new URL('.', import.meta.url));
const read = (path) => readFileSync(`${folder}/${path}`, 'utf8');
const { version, files } = JSON.parse(read('package.json'));

/** Texts of the published pages, by their paths. */
const pages = new Map(
  files
    .flatMap((path) =>
      path.includes('.')
        ? path
        : readdirSync(`${folder}/${path}`, { recursive: true }).map((name) => `${path}/${name}`),
    )
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md'))
    .toSorted()
    .map((path) => [path, read(path)]),
);

const index = { vectorStore: new LocalVector(), indexName: 'pages', model: createLexicalEmbedder() };
await ingest({
  ...index,
  documents: [...pages].map(([source, text]) => MDocument.fromMarkdown(text, { source })),
  chunkOptions: { maxSize: 1200 },
});

const searchDocs = createVectorQueryTool({
  ...index,
  id: 'searchDocs',
  description:
    'Searches the documentation of Quiver, the TypeScript SDK of @quiver/core, @quiver/mcp, @quiver/rag and @quiver/loaders: tools, MCP servers and clients, retrieval, error codes. Returns passages with their page and headings.',
  mode: 'hybrid',
});
const exploreDocs = createGraphRAGTool({
  ...index,
  id: 'exploreDocs',
  description:
    'Finds passages in the documentation of Quiver that match a question, and those connected with them by links, shared names and order. For questions that several pages answer together.',
});

/** Returns the paths that a name of a page can mean: `docs/guides/tools.md`, `guides/tools` and `tools` are one page. */
function findPages(name) {
  const path = `${name
    .replace(/#.*$/, '')
    .replace(/^(?:\.?\/)?(?:docs\/)?/, '')
    .replace(/\.md$/, '')}.md`;
  return pages.has(path) ? [path] : [...pages.keys()].filter((page) => page.endsWith(`/${path}`));
}

/** Returns the five paths that share the most letters with a name, by groups of three. */
function findNearestPages(name) {
  const likeness = (page) =>
    page.split('').filter((_, start) => start + 3 <= page.length && name.includes(page.slice(start, start + 3)))
      .length / page.length;
  return [...pages.keys()].toSorted((one, other) => likeness(other) - likeness(one)).slice(0, 5);
}

const readPage = createTool({
  id: 'readPage',
  description: 'Returns a page of the documentation of Quiver as Markdown, with complete programs.',
  inputSchema: z.object({
    page: z.string().min(1).max(200).describe('Path as in a search result, such as guides/tools.md'),
  }),
  execute: async ({ page }) => {
    const found = findPages(page);
    if (found.length === 1) return pages.get(found[0]);
    const nearest = (found.length > 0 ? found : findNearestPages(page)).join(', ');
    throw new Error(`There is no page '${page}'. Nearest pages: ${nearest}.`);
  },
});

const server = new MCPServer({
  id: 'quiver-docs',
  name: 'Documentation of Quiver',
  version,
  instructions:
    'Call searchDocs before you write or explain code that imports @quiver packages, and readPage for the complete programs of a page. Cite the page.',
  tools: { searchDocs, exploreDocs, readPage },
});
await server.startStdio();
