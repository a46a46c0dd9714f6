// The built site: what its search finds, and how its pages look in a browser. It takes a minute, so it runs with QUIVER_LONG only.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { search } from '../.vitepress/search.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));
const skip = process.env['QUIVER_LONG'] ? false : 'it takes a minute; set QUIVER_LONG';
const executablePath = process.env['QUIVER_CHROMIUM'] ?? '';

/** A part of a page that the search has found. */
interface Found {
  id: string;
}

function readJson<Value>(name: string): Record<string, Value> {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as Record<string, Value>;
}

/** Returns the search of a built site, as VitePress opens it in the browser: the pages for a query, best first. */
async function openSearch(site: string): Promise<(query: string) => string[]> {
  const chunks = join(site, 'assets/chunks');
  const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot')) ?? '';
  const { default: index } = (await import(pathToFileURL(join(chunks, file)).href)) as { default: string };
  const requireFromVitePress = createRequire(createRequire(import.meta.url).resolve('vitepress'));
  const { default: MiniSearch } = (await import(pathToFileURL(requireFromVitePress.resolve('minisearch')).href)) as {
    default: { loadJSON(text: string, options: object): { search(query: string): Found[] } };
  };
  const own = search.provider === 'local' ? search.options?.miniSearch?.searchOptions : {};
  const searchOptions = { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, ...own };
  const loaded = MiniSearch.loadJSON(index, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions,
  });
  return (query) => {
    const pages = loaded.search(query).map(({ id }) => id.slice(1).replace(/(\.html)?(#.*)?$/, '') || 'index');
    return [...new Set(pages)];
  };
}

describe('the site', { skip }, () => {
  const site = mkdtempSync(join(tmpdir(), 'quiver-site-'));
  after(() => rmSync(site, { recursive: true }));
  before(() => {
    // TypeDoc writes the pages of the API.
    for (const [program, ...options] of [['typedoc'], ['vitepress', 'build', '--outDir', site]] as const) {
      const run = spawnSync(join(docs, 'node_modules/.bin', program), options, { cwd: docs, encoding: 'utf8' });
      assert.equal(run.status, 0, run.stderr);
    }
  });

  test('the search finds the page for what people type among the first three', async () => {
    const pagesFor = await openSearch(site);
    const missed = Object.entries(readJson<string>('site-search.json')).flatMap(([query, page]) => {
      const first = pagesFor(query).slice(0, 3);
      return first.includes(page) ? [] : [`${query}: ${first.join(', ')}, not ${page}`];
    });
    assert.deepEqual(missed, []);
  });

  test('the search finds a page that answers first for 26 of 30 questions', async () => {
    const pagesFor = await openSearch(site);
    const questions = Object.entries(readJson<string[]>('site-questions.json'));
    assert.equal(questions.length, 30);
    const missed = questions.flatMap(([query, pages]) => {
      const [first = 'none'] = pagesFor(query);
      return pages.includes(first) ? [] : [`${query}: ${first}`];
    });
    assert.ok(missed.length <= 4, missed.join('\n'));
  });

  test('the site has at most 60 MB, and its median page 60 KB', () => {
    const sizes = new Map(
      globSync('**/*.*', { cwd: site }).map((file) => [file, statSync(join(site, file)).size] as const),
    );
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const pages = [...sizes]
      .flatMap(([file, size]) => (file.endsWith('.html') ? [size] : []))
      .toSorted((a, b) => a - b);
    assert.ok(total <= 60e6, `The site has ${Math.round(total / 1e6)} MB.`);
    const median = pages[Math.floor(pages.length / 2)] ?? 0;
    assert.ok(median <= 60e3, `The median page has ${Math.round(median / 1e3)} KB.`);
  });

  test(
    'pages fit their window, and their colors can be read',
    { skip: executablePath ? false : 'QUIVER_CHROMIUM is not set' },
    async (t) => {
      const server = createServer((request, response) => {
        const path = new URL(request.url ?? '/', 'http://site').pathname;
        const file = path.endsWith('/') ? `${path}index.html` : /\.\w+$/.test(path) ? path : `${path}.html`;
        try {
          const content = readFileSync(join(site, decodeURIComponent(file)));
          const type = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }[
            file.split('.').at(-1) ?? ''
          ];
          response.writeHead(200, { 'content-type': type ?? 'application/octet-stream' }).end(content);
        } catch {
          response.writeHead(404).end();
        }
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      t.after(() => server.close());
      const address = server.address();
      assert(address && typeof address === 'object');
      const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
      t.after(() => browser.close());
      const problems: string[] = [];
      for (const [width, colorScheme] of [
        [1280, 'light'],
        [1280, 'dark'],
        [390, 'light'],
      ] as const) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
        for (const path of [
          '',
          'getting-started/mcp-server',
          'guides/tools',
          'guides/mcp-server',
          'guides/mcp-client',
          'guides/mcp-client/servers',
          'guides/retrieval',
          'guides/search',
          'guides/documents',
          'guides/document-formats',
          'guides/chunks',
          'guides/ingestion',
          'reference/benchmarks',
          'reference/benchmarks/mcp-server',
          'reference/benchmarks/search-quality',
          'concepts/why-quiver',
        ]) {
          await page.goto(`http://127.0.0.1:${address.port}/${path}`, { waitUntil: 'networkidle' });
          const wide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
          if (wide > 0) problems.push(`/${path} is ${wide} px wider than ${width}`);
          if (width === 390) continue;
          const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
          if (height > 15_000) problems.push(`/${path} has ${height} px: divide it`);
          const cut = Number(
            await page.evaluate(
              "[...document.querySelectorAll('.vp-doc div:not(.language-text) > pre')].filter((box) => box.scrollWidth > box.clientWidth + 1).length",
            ),
          );
          if (cut > 0) problems.push(`/${path} cuts ${cut} blocks of code at ${width} px`);
          await page.evaluate(axe.source);
          const { violations } = (await page.evaluate(`axe.run('.VPDoc', { resultTypes: ['violations'] })`)) as {
            violations: { id: string; impact: string; nodes: { html: string }[] }[];
          };
          for (const { id, impact, nodes } of violations)
            if (impact === 'serious' || impact === 'critical')
              problems.push(`/${path}, ${colorScheme}: ${id} (${nodes.length}), ${nodes[0]?.html.slice(0, 120)}`);
        }
        await page.close();
      }
      assert.deepEqual(problems, []);

      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      await page.goto(`http://127.0.0.1:${address.port}/reference/errors`, { waitUntil: 'networkidle' });
      await page.getByLabel('Filter errors').fill('too complex output');
      await page.getByText(/^1 of \d+ errors$/).waitFor();
      assert.equal(await page.locator('[data-error]:visible').getAttribute('id'), 'MCP_OUTPUT_TOO_COMPLEX');
    },
  );
});
