import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownOptions } from 'vitepress';
import { withMermaid } from 'vitepress-plugin-mermaid';
import { sidebar } from './sidebar.ts';
import { writeMarkdownCopies } from './markdown-copies.ts';

const repository = 'https://github.com/quiver-sdk/quiver';
const pages = fileURLToPath(new URL('..', import.meta.url));

/** Links to files outside `docs/`, such as examples and tests, lead to the repository. */
const linkToRepository: NonNullable<MarkdownOptions['config']> = (markdown) => {
  markdown.core.ruler.push('link-to-repository', ({ tokens, env }) => {
    for (const link of tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open')) {
      const target = link.attrGet('href') ?? '';
      if (/^([a-z]+:|#|\/)/.test(target)) continue;
      const path = relative(pages, resolve(env.path, '..', decodeURI(target)));
      if (path.startsWith('../')) link.attrSet('href', `${repository}/blob/main/${path.slice(3)}`);
    }
  });
};

export default withMermaid({
  title: 'Quiver',
  description: 'A TypeScript SDK for people who build agents: tools, the Model Context Protocol, and retrieval.',
  srcExclude: ['node_modules/**', 'check/**'],
  cleanUrls: true,
  lastUpdated: false,
  ignoreDeadLinks: 'localhostLinks',
  markdown: { config: linkToRepository },
  themeConfig: {
    sidebar,
    nav: [
      { text: 'Get started', link: '/getting-started/mcp-server' },
      { text: 'Guides', link: '/guides/tools' },
      { text: 'Reference', link: '/reference/errors' },
    ],
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
  },
  buildEnd: writeMarkdownCopies,
});
