import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownOptions } from 'vitepress';
import { withMermaid } from 'vitepress-plugin-mermaid';
import { describePage } from './describe-page.ts';
import { writeMarkdownCopies } from './markdown-copies.ts';
import { search } from './search.ts';
import { sidebar } from './sidebar.ts';

const repository = 'https://github.com/quiver-sdk/quiver';
const pages = fileURLToPath(new URL('..', import.meta.url));
const description = 'A TypeScript SDK for people who build agents: tools, the Model Context Protocol, and retrieval.';

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

/** The page of errors has a filter before its first group, and an anchor for each code. */
const addErrorFilter: NonNullable<MarkdownOptions['config']> = (markdown) => {
  markdown.core.ruler.push('error-filter', ({ tokens, env, Token }) => {
    if (env.relativePath !== 'reference/errors.md') return;
    for (const [index, token] of tokens.entries()) {
      const [, start, code] = tokens[index + 1]?.children ?? [];
      if (token.type !== 'paragraph_open' || start?.type !== 'strong_open' || code?.type !== 'code_inline') continue;
      token.attrSet('id', code.content);
      token.attrSet('data-error', '');
    }
    const filter = new Token('html_block', '', 0);
    filter.content = '<ErrorFilter />\n';
    tokens.splice(
      tokens.findIndex(({ tag }) => tag === 'h2'),
      0,
      filter,
    );
  });
};

export default withMermaid({
  title: 'Quiver',
  description,
  lang: 'en-US',
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }],
    ['meta', { property: 'og:site_name', content: 'Quiver' }],
    ['meta', { property: 'og:type', content: 'website' }],
  ],
  srcExclude: ['README.md', 'node_modules/**', 'check/**'],
  cleanUrls: true,
  lastUpdated: false,
  // Otherwise each page contains the paths of all pages and all sidebars: 280 KB.
  metaChunk: true,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    config(markdown) {
      linkToRepository(markdown);
      addErrorFilter(markdown);
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    sidebar,
    nav: [
      { text: 'Get started', link: '/getting-started/mcp-server' },
      { text: 'Guides', link: '/guides/tools' },
      { text: 'API', link: '/reference/api/README' },
      { text: 'Reference', link: '/reference/errors' },
    ],
    outline: [2, 3],
    search,
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
  },
  async transformPageData(page, { siteConfig }) {
    // TypeDoc writes the pages of the API from the sources.
    if (page.relativePath.startsWith('reference/api/')) page.frontmatter['editLink'] = false;
    page.description = describePage(await readFile(`${siteConfig.srcDir}/${page.filePath}`, 'utf8')) || description;
  },
  transformHead: ({ pageData: { title, description: text } }) => [
    ['meta', { property: 'og:title', content: title }],
    ['meta', { property: 'og:description', content: text }],
  ],
  buildEnd: writeMarkdownCopies,
});
