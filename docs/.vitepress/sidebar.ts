import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DefaultTheme } from 'vitepress';
import { readEntryPoints, readStoreNames } from '../check/entry-points.ts';

const pages = fileURLToPath(new URL('..', import.meta.url));

/** A page in the sidebar, by its path; its heading is the text. */
const page = (path: string): DefaultTheme.SidebarItem => {
  const heading = /^# (.+)$/m.exec(readFileSync(`${pages}/${path}.md`, 'utf8'))?.[1];
  return { text: heading ?? path, link: `/${path}` };
};
const group = (text: string, ...paths: string[]): DefaultTheme.SidebarItem => ({
  text,
  collapsed: true,
  items: paths.map(page),
});
const folder = (path: string): string[] =>
  globSync(`${path}/*.md`, { cwd: pages })
    .map((file) => file.replace(/\.md$/, ''))
    .filter((file) => !file.endsWith('/README'))
    .toSorted();

const entryPoints = readEntryPoints().flatMap(({ name, internal }) => (internal ? [] : [name]));

/**
 * The sidebar of an entry point: its functions and classes, of which TypeDoc writes the pages (`npm run docs`), and the other entry points. Types are
 * on the page of the entry point, because the list of all of them would be half of each page.
 */
const entryPointSidebar = (open: string): DefaultTheme.SidebarItem[] => [
  {
    text: 'API',
    items: entryPoints.map((name) => ({
      text: name,
      link: `/reference/api/${name}/README`,
      ...(name === open && {
        items: ['functions', 'classes'].flatMap((kind) =>
          folder(`reference/api/${name}/${kind}`).map((path) => ({ text: basename(path), link: `/${path}` })),
        ),
      }),
    })),
  },
];

const guides: DefaultTheme.SidebarItem[] = [
  {
    text: 'Getting started',
    items: ['mcp-server', 'publish-a-server', 'agent-tools', 'query-documents'].map((name) =>
      page(`getting-started/${name}`),
    ),
  },
  {
    text: 'Guides',
    items: [
      group(
        'Tools',
        'guides/tools',
        'guides/many-tools',
        'guides/ai-sdk',
        'guides/content-for-models',
        'guides/agents',
      ),
      group(
        'MCP server',
        'guides/mcp-server',
        'guides/connect-hosts',
        'guides/mcp-server/transports',
        'guides/mcp-server/resources',
        'guides/mcp-server/prompts',
        'guides/mcp-server/asking',
        'guides/mcp-server/tasks',
        'guides/mcp-server/agents-and-workflows',
        'guides/mcp-server/changes',
        'guides/mcp-server/catalog',
        'guides/mcp-server/result-limits',
        'guides/gateway',
        'guides/mcp-server/middleware',
        'guides/shared-store',
        'guides/oauth-server',
        'guides/company-server',
        'guides/test-a-server',
      ),
      group(
        'MCP client',
        'guides/mcp-client',
        'guides/mcp-client/servers',
        'guides/mcp-client/calls',
        'guides/mcp-client/tasks',
        'guides/mcp-client/unavailable-servers',
        'guides/mcp-client/lists',
        'guides/mcp-client/resources-and-prompts',
        'guides/mcp-client/requests',
        'guides/untrusted-output',
        'guides/typed-clients',
        'guides/many-users',
        'guides/oauth-client',
      ),
      group(
        'Retrieval',
        'guides/retrieval',
        'guides/documents',
        'guides/document-formats',
        'guides/chunks',
        'guides/sync-a-folder',
        'guides/web-pages',
        ...folder('guides/chunking'),
        'guides/choose-chunks-and-store',
        'guides/ingestion',
        'guides/ingestion-by-queue',
        'guides/delete-and-update',
        'guides/search',
        'guides/passages',
        'guides/citations',
        'guides/graph-rag',
        'guides/graph-view',
        'guides/rerank',
        'guides/local-embeddings',
        'guides/question-planning',
        'guides/evaluate',
        'guides/cost',
      ),
      group(
        'Vector stores',
        'guides/stores/api',
        ...readStoreNames().map((name) => `guides/stores/${name}`),
        'guides/stores/moving',
      ),
      page('guides/observability'),
      page('guides/security'),
      page('guides/bundle'),
    ],
  },
  { text: 'Concepts', collapsed: true, items: folder('concepts').map(page) },
  { text: 'Deploy', collapsed: true, items: folder('deploy').map(page) },
  {
    text: 'Reference',
    collapsed: true,
    items: [
      { text: 'API', link: '/reference/api/README' },
      ...[...folder('reference'), ...folder('reference/benchmarks')].toSorted().map(page),
    ],
  },
  { text: 'Help', collapsed: true, items: folder('help').map(page) },
  { text: 'Contributing', collapsed: true, items: [page('decisions/README')] },
];

export const sidebar: DefaultTheme.SidebarMulti = {
  '/': guides,
  '/reference/api/': entryPointSidebar(''),
  ...Object.fromEntries(entryPoints.map((name) => [`/reference/api/${name}/`, entryPointSidebar(name)])),
};
