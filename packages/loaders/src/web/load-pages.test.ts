import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { readdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import type { MDocument } from '@quiver/rag/document';
import { createLexicalEmbedder } from '@quiver/rag';
import { deleteDocuments } from '@quiver/rag';
import { ingest } from '@quiver/rag';
import { LocalVector } from '@quiver/rag/local';
import { expectError } from '../../../../scripts/test-error.ts';
import type { SkippedPage } from './load-page.js';
import { loadPages, type LoadPagesOptions, type PageProgress } from './load-pages.js';
import { readPageState, writePageState, type PageState } from './page-state.js';
import { readSitemap } from './sitemap.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Site {
  url: string;
  /** Paths of the requests so far. */
  requests: string[];
}

/** A web site by path. Everything else is 404. */
async function startSite(pages: Readonly<Record<string, string | RequestListener>>): Promise<Site> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const page = pages[request.url ?? ''];
    if (typeof page === 'function') return page(request, response);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    return response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const sentence = 'The store keeps every vector in a file that it maps into memory when it opens the index. ';
const article = (title: string, rest = ''): string =>
  `<html lang="en"><head><title>${title}</title></head><body><nav><a href="/">Home</a></nav><article><h1>${title}</h1><p>${sentence.repeat(4)}</p><p>${sentence.repeat(3)}${rest}</p></article><footer>Imprint</footer></body></html>`;

let skipped: SkippedPage[];
async function load(urls: Iterable<string | URL>, options: LoadPagesOptions = {}): Promise<MDocument[]> {
  skipped = [];
  const documents: MDocument[] = [];
  const onSkip = (page: SkippedPage): void => void skipped.push(page);
  for await (const document of loadPages(urls, { allowPrivateAddresses: true, onSkip, ...options }))
    documents.push(document);
  return documents;
}

const sources = (documents: readonly MDocument[]): unknown[] =>
  documents.map(({ sources: [first] }) => first?.metadata['source']);
const reasons = (): unknown[] => skipped.map(({ reason }) => reason);

describe('loadPages', () => {
  test('returns the main content as Markdown with absolute links, in the order of the URLs', async () => {
    const { url } = await startSite({
      '/a/one': (_request, response) => {
        setTimeout(
          () => response.setHeader('content-type', 'text/html').end(article('One', '<a href="two">next</a>')),
          20,
        );
      },
      '/a/two': article('Two').replace(
        '</head>',
        '<link rel="canonical" href="/a/2"><meta name="description" content="About two."></head>',
      ),
      '/notes.md': (_request, response) => response.setHeader('content-type', 'text/markdown').end('# Notes'),
    });
    const documents = await load([`${url}/a/one#part`, new URL(`${url}/a/two`), `${url}/notes.md`], {
      metadata: { team: 'docs' },
    });
    expect(sources(documents)).toEqual([`${url}/a/one`, `${url}/a/2`, `${url}/notes.md`]);
    const [one, two, notes] = documents.map(({ sources: [source] }) => source!);
    expect(one!.text).toContain(`[next](${url}/a/two)`);
    const [chunk] = await documents[0]!.chunk();
    expect(chunk!.text).toMatch(/^# One\n/);
    expect(chunk!.text).not.toMatch(/Home|Imprint/);
    expect(documents[0]!.skippedText).toEqual({ navigation: expect.any(Number) });
    expect(two!.metadata).toEqual({
      source: `${url}/a/2`,
      title: 'Two',
      description: 'About two.',
      language: 'en',
      team: 'docs',
    });
    expect(notes).toMatchObject({ text: '# Notes', metadata: { source: `${url}/notes.md`, team: 'docs' } });
    expect(skipped).toEqual([]);
  });

  test('reports pages one by one, and loads the others', async () => {
    const { url } = await startSite({
      '/ok': article('Fine'),
      '/error': (_request, response) => response.writeHead(500).end(),
      '/cut': (_request, response) =>
        response.writeHead(200, { 'content-length': 100 }).end('short', () => response.destroy()),
      '/picture': (_request, response) => response.setHeader('content-type', 'image/png').end('png'),
      '/empty': '<title>Empty</title>',
      '/loop': (_request, response) => response.writeHead(302, { location: '/loop' }).end(),
    });
    const paths = ['/error', '/gone', '/cut', '/picture', '/empty', '/loop', '/ok'];
    const documents = await load([...paths.map((path) => url + path), 'ftp://x/y', 'not a URL', 'http://user:pass@x/']);
    expect(sources(documents)).toEqual([`${url}/ok`]);
    expect(
      skipped.map(({ url: page, reason, error }) => [
        page.replace(url, ''),
        reason,
        (error as { code?: string })?.code,
      ]),
    ).toEqual([
      ['/error', 'unreadable', 'PAGE_REQUEST_FAILED'],
      ['/gone', 'gone', undefined],
      ['/cut', 'unreadable', 'PAGE_REQUEST_FAILED'],
      ['/picture', 'unknown type', 'DOCUMENT_TYPE_UNKNOWN'],
      ['/empty', 'no text', 'DOCUMENT_EMPTY'],
      ['/loop', 'unreadable', 'PAGE_REQUEST_FAILED'],
      ['ftp://x/y', 'unreadable', 'PAGE_URL_INVALID'],
      ['not a URL', 'unreadable', 'PAGE_URL_INVALID'],
      ['http://user:pass@x/', 'unreadable', 'PAGE_URL_INVALID'],
    ]);
  });

  test('requests private addresses only if it may, also behind a name or a redirect', async () => {
    const { url, requests } = await startSite({ '/ok': article('Fine') });
    const { port } = new URL(url);
    const urls = [
      url,
      `http://localhost:${port}/ok`,
      `http://[::1]:${port}/`,
      `http://2130706433:${port}/ok`,
      'http://169.254.169.254/latest/',
    ];
    expect(await load(urls, { allowPrivateAddresses: false })).toEqual([]);
    expect(reasons()).toEqual(urls.map(() => 'disallowed'));
    for (const { error } of skipped) expect(error).toMatchObject({ code: 'PAGE_ADDRESS_PRIVATE' });
    expect(requests).toEqual([]);
  });

  test.each([
    ['a host name', ['LOCALHOST'], ['/ok by name']],
    ['an address', ['127.0.0.1'], ['/ok', '/ok by name']],
    ['a network', ['10.0.0.0/8', '127.0.0.0/8'], ['/ok', '/ok by name']],
    ['others', ['wiki.intern', '127.0.0.2', '10.0.0.0/8'], []],
  ])('requests the private addresses of a list: %s', async (_name, allowPrivateAddresses, expected) => {
    const { url } = await startSite({ '/ok': article('Fine') });
    const urls = { '/ok': `${url}/ok`, '/ok by name': `http://localhost:${new URL(url).port}/ok` };
    expect(sources(await load(Object.values(urls), { allowPrivateAddresses }))).toEqual(
      expected.map((name) => urls[name as keyof typeof urls]),
    );
  });

  test('never requests metadata services, not even after a redirect from an allowed host', async () => {
    const target = 'http://169.254.169.254/latest/meta-data/';
    const { url } = await startSite({
      '/moved': (_request, response) => response.writeHead(302, { location: target }).end(),
    });
    for (const allowPrivateAddresses of [true, ['127.0.0.1'], ['169.254.0.0/16', '127.0.0.1']]) {
      expect(await load([`${url}/moved`, target], { allowPrivateAddresses })).toEqual([]);
      for (const { error } of skipped) expect(error).toMatchObject({ code: 'PAGE_ADDRESS_PRIVATE' });
      expect(skipped).toHaveLength(2);
    }
  });

  test('rejects lists with anything else than host names, addresses and networks', async () => {
    for (const item of ['http://wiki.intern', 'wiki.intern:80', '10.0.0.0/33', '10.0.0/8', '', 'a b'])
      await expectError(load([], { allowPrivateAddresses: [item] }), 'OPTIONS_INVALID');
  });

  test('reports a page that takes too long to read', async () => {
    const { url } = await startSite({
      '/long': (_request, response) => response.setHeader('content-type', 'text/csv').end('a,b\n'.repeat(20_000)),
      '/ok': article('Fine'),
    });
    expect(sources(await load([`${url}/ok`]))).toEqual([`${url}/ok`]);
    expect(await load([`${url}/long`], { parseTimeout: 1 })).toEqual([]);
    expect(skipped).toMatchObject([
      { url: `${url}/long`, reason: 'limit exceeded', error: { code: 'DOCUMENT_LIMIT_EXCEEDED', details: { max: 1 } } },
    ]);
  });

  test('limits size, also of compressed pages, and time', async () => {
    const { url } = await startSite({
      '/large': article('Large', 'x'.repeat(20_000)),
      '/bomb': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
          .end(gzipSync('x'.repeat(1_000_000))),
      '/slow': () => undefined,
      // Each request is in time, and all of them together are not.
      '/moved': (_request, response) =>
        void setTimeout(() => response.writeHead(302, { location: '/moved' }).end(), 100),
      '/small': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
          .end(gzipSync(article('Small'))),
    });
    const urls = ['/large', '/bomb', '/small'].map((path) => url + path);
    expect(sources(await load(urls, { maxFileSize: 10_000 }))).toEqual([`${url}/small`]);
    expect(reasons()).toEqual(['too large', 'too large']);
    expect(await load([`${url}/slow`], { requestTimeout: 50, robots: false })).toEqual([]);
    expect(skipped).toMatchObject([
      { reason: 'unreadable', error: { message: expect.stringContaining('no complete response within 50 ms') } },
    ]);
    await load([`${url}/moved`], { requestTimeout: 300, robots: false });
    expect(skipped.at(-1)?.error).toMatchObject({
      message: expect.stringContaining('no complete response within 300'),
    });
  });

  test('costs one request without a body for a page that did not change, and keeps what cannot be fetched', async () => {
    let isDown = false;
    const conditions: (string | undefined)[] = [];
    const serve =
      (title: string, tag: string): RequestListener =>
      (request: IncomingMessage, response) => {
        if (isDown) return void response.writeHead(503).end();
        conditions.push(request.headers['if-none-match']);
        const isSame = request.headers['if-none-match'] === tag;
        response.writeHead(isSame ? 304 : 200, { etag: tag, 'content-type': 'text/html' });
        response.end(isSame ? undefined : article(title));
      };
    const { url } = await startSite({ '/a': serve('Alpha', '"1"'), '/b': serve('Beta', '"2"') });
    const folder = await newFolder();
    const path = join(folder, 'pages.json');
    await using store = new LocalVector();
    const run = async (
      urls: readonly string[],
    ): Promise<{ report: Awaited<ReturnType<typeof ingest>>; gone: string[] }> => {
      const state = await readPageState(path);
      const gone: string[] = [];
      const documents = loadPages(urls, {
        state,
        allowPrivateAddresses: true,
        onSkip: (page) => {
          skipped.push(page);
          if (page.reason === 'gone') gone.push(page.url);
        },
      });
      const report = await ingest({
        documents,
        vectorStore: store,
        indexName: 'pages',
        model: createLexicalEmbedder(),
      });
      await writePageState(path, state);
      await deleteDocuments({ vectorStore: store, indexName: 'pages', sources: gone });
      return { report, gone };
    };
    skipped = [];
    expect((await run([`${url}/a`, `${url}/b`])).report).toMatchObject({ documents: 2, added: 2 });
    expect((await run([`${url}/a`, `${url}/b`])).report).toMatchObject({ documents: 0, added: 0, removed: 0 });
    expect(reasons()).toEqual(['unchanged', 'unchanged']);
    expect(conditions).toEqual([undefined, undefined, '"1"', '"2"']);
    isDown = true;
    skipped = [];
    expect((await run([`${url}/a`, `${url}/missing`])).report).toMatchObject({ documents: 0, removed: 0 });
    expect(reasons()).toEqual(['unreadable', 'gone']);
    expect((await store.describeIndex({ indexName: 'pages' })).count).toBe(2);
    expect([...(await readPageState(path)).keys()]).toEqual([`${url}/a`, `${url}/b`]);
    expect(await readdir(folder)).toEqual(['pages.json']);
  });

  test('loads a page once that several URLs lead to', async () => {
    const moved: RequestListener = (_request, response) => response.writeHead(301, { location: '/a' }).end();
    const { url, requests } = await startSite({ '/a': article('A'), '/old': moved, '/older': moved });
    const urls = ['/old', '/a', '/a#part', '/older'].map((path) => url + path);
    expect(sources(await load(urls, { robots: false }))).toEqual([`${url}/a`]);
    expect(skipped.map(({ url, reason }) => [url, reason])).toEqual([
      [`${url}/old`, 'duplicate'],
      [`${url}/a`, 'duplicate'],
      [`${url}/older`, 'duplicate'],
    ]);
    expect(requests.filter((path) => path === '/a')).toHaveLength(1);
  });

  test('recognizes pages without validators by their content', async () => {
    let text = 'First';
    const { url } = await startSite({
      '/a': (_request, response) => response.setHeader('content-type', 'text/html').end(article(text)),
    });
    const state: PageState = new Map();
    const run = async (): Promise<unknown> => sources(await load([`${url}/a`], { state, robots: false }));
    expect(await run()).toEqual([`${url}/a`]);
    expect(await run()).toEqual([]);
    expect(reasons()).toEqual(['unchanged']);
    text = 'Second';
    expect(await run()).toEqual([`${url}/a`]);
  });

  test('forgets a page that is gone, and sends If-Modified-Since', async () => {
    const times: unknown[] = [];
    const { url } = await startSite({
      '/a': (request, response) => {
        times.push(request.headers['if-modified-since']);
        response.writeHead(304).end();
      },
    });
    const date = 'Sun, 22 Nov 2026 10:00:00 GMT';
    const state: PageState = new Map([
      [`${url}/a`, { lastModified: date }],
      [`${url}/gone`, { etag: '"1"' }],
    ]);
    expect(await load([`${url}/a`, `${url}/gone`], { state, robots: false })).toEqual([]);
    expect(reasons()).toEqual(['unchanged', 'gone']);
    expect(times).toEqual([date]);
    expect([...state.keys()]).toEqual([`${url}/a`]);
  });

  test('respects robots.txt, which it loads once', async () => {
    const { url, requests } = await startSite({
      '/robots.txt': 'User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nAllow: /private/open\n',
      '/private/a': article('A'),
      '/private/open': article('Open'),
      '/moved': (_request, response) => response.writeHead(301, { location: '/private/a' }).end(),
    });
    const urls = [`${url}/private/a`, `${url}/private/open`, `${url}/moved`];
    expect(sources(await load(urls))).toEqual([`${url}/private/open`]);
    expect(reasons()).toEqual(['disallowed', 'disallowed']);
    expect(requests.toSorted()).toEqual(['/moved', '/private/open', '/robots.txt']);
    expect(sources(await load(urls, { robots: false }))).toEqual([`${url}/private/a`, `${url}/private/open`]);
  });

  test('loads nothing from a host whose robots.txt is unavailable', async () => {
    const { url } = await startSite({
      '/robots.txt': (_request, response) => response.writeHead(503).end(),
      '/a': article('A'),
    });
    expect(await load([`${url}/a`])).toEqual([]);
    expect(skipped).toMatchObject([{ reason: 'unreadable', error: { code: 'PAGE_REQUEST_FAILED' } }]);
  });

  test('sends headers to the first origin only', async () => {
    const seen: unknown[] = [];
    const remember: RequestListener = (request, response) => {
      seen.push([request.headers.authorization, request.headers['user-agent']]);
      response.setHeader('content-type', 'text/html').end(article('A'));
    };
    const other = await startSite({ '/b': remember });
    const { url } = await startSite({
      '/a': remember,
      '/b': (_request, response) => response.writeHead(302, { location: `${other.url}/b` }).end(),
    });
    const options = { headers: { authorization: 'Bearer x' }, userAgent: 'docs-bot', robots: false, concurrency: 1 };
    await load([`${url}/a`, `${url}/b`], options);
    expect(seen).toEqual([
      ['Bearer x', 'docs-bot'],
      [undefined, 'docs-bot'],
    ]);
  });

  test('loads a limited number of pages at a time, with progress, and stops with its consumer and its signal', async () => {
    let open = 0;
    let most = 0;
    const paths = Array.from({ length: 12 }, (_, index) => `/${index}`);
    const page: RequestListener = (_request, response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        response.setHeader('content-type', 'text/html').end(article('Page'));
      }, 5);
    };
    const { url, requests } = await startSite(Object.fromEntries(paths.map((path) => [path, page])));
    const urls = paths.map((path) => url + path);
    const progress: PageProgress[] = [];
    await load(new Set(urls), { concurrency: 3, robots: false, onProgress: (event) => progress.push(event) });
    expect(most).toBeLessThanOrEqual(3);
    expect(progress.at(-1)).toEqual({ loaded: 12, unchanged: 0, skipped: 0, total: 12, url: urls[11] });
    requests.length = 0;
    for await (const _ of loadPages(urls, { concurrency: 2, robots: false, allowPrivateAddresses: true })) break;
    expect(requests.length).toBeLessThan(6);
    const controller = new AbortController();
    await expect(load(urls, { signal: controller.signal, onProgress: () => controller.abort() })).rejects.toMatchObject(
      { name: 'AbortError' },
    );
  });

  test('sends headers to no robots.txt of an origin that only a redirect leads to', async () => {
    const received: (string | undefined)[] = [];
    const other = await startSite({
      '/robots.txt': ({ headers }, response) => {
        received.push(headers.authorization);
        response.end('User-agent: *\nAllow: /');
      },
      '/page': article('Other'),
    });
    const { url } = await startSite({
      '/page': (_request, response) => response.writeHead(302, { location: `${other.url}/page` }).end(),
    });
    await load([`${url}/page`, `${other.url}/page`], { headers: { authorization: 'Bearer x' }, concurrency: 1 });
    expect(received).toEqual([undefined, 'Bearer x']);
  });

  test('does not count the wait for a turn as time of a page', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const controller = new AbortController();
    let timers = 0;
    const page: RequestListener = () => {
      timers = timeout.mock.calls.length;
      controller.abort();
    };
    const { url } = await startSite({ '/1': page, '/2': page });
    try {
      const options = { delay: 60_000, robots: false, signal: controller.signal };
      await expect(load([`${url}/1`, `${url}/2`], options)).rejects.toMatchObject({ name: 'AbortError' });
    } finally {
      timeout.mockRestore();
    }
    expect(timers).toBe(1);
  });

  test('repeats no credentials of a URL in messages', async () => {
    await load(['https://user:pass@word@example.com/a@b', 'ftp:user:password@example.com/']);
    const messages = skipped.map(({ error }) => String(error));
    expect(messages).toEqual([
      expect.stringContaining("'https://example.com/a@b' contains credentials"),
      expect.stringContaining("'ftp://example.com/' is not the URL of a page"),
    ]);
  });

  test('keeps no validators of a file whose parts could not all be read', async () => {
    const mail = [
      'Subject: Two files',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'Hello',
      '--b',
      'Content-Type: application/octet-stream',
      'Content-Disposition: attachment; filename=report.docx',
      '',
      'damaged',
      '--b--',
    ].join('\r\n');
    const { url } = await startSite({
      '/a.eml': (_request, response) => response.setHeader('etag', '"1"').end(mail),
    });
    const state: PageState = new Map();
    expect(await load([`${url}/a.eml`], { state, robots: false })).toHaveLength(1);
    expect(reasons()).toEqual(['unreadable']);
    expect(state).toEqual(new Map([[`${url}/a.eml`, {}]]));
  });

  test('reads a page as a whole without main content, or on request', async () => {
    const links = '<ul><li><a href="/a">A</a></li><li><a href="/b">B</a></li></ul>';
    const { url } = await startSite({ '/': links, '/page': article('Page') });
    const [index] = await load([`${url}/`]);
    expect(index?.getText()).toEqual([`- [A](${url}/a)\n- [B](${url}/b)`]);
    const [page] = await load([`${url}/page`], { content: 'all' });
    expect(page?.getText()[0]).toContain('Imprint');
  });

  test.each([
    [{ concurrency: 0 }],
    [{ requestTimeout: Number.NaN }],
    [{ delay: -1 }],
    [{ maxFileSize: 1.5 }],
    [{ parseTimeout: 0 }],
    [{ maxMemoryMb: Number.NaN }],
    [{ content: 'article' as never }],
    [{ headers: new Headers({ authorization: 'secret' }) as never }],
    [{ state: {} as never }],
    [{ requestTimeout: 3_000_000_000 }],
  ])('rejects the options %o', async (options) => {
    await expectError(load([], options), 'OPTIONS_INVALID');
  });

  test.each([
    ['https://example.com/', "'https://example.com/'"],
    [undefined, 'undefined'],
  ])('rejects %s in place of a list of URLs', async (urls, shown) => {
    await expect(loadPages(urls as never).next()).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: `loadPages: 'urls' must be a list or another iterable, not ${shown}.`,
    });
  });

  test('does not repeat headers in errors', async () => {
    await expect(load([], { headers: 'authorization: secret' as never })).rejects.toMatchObject({
      message: "loadPages: 'headers' must be an object of strings by name.",
    });
  });

  test('rejects a damaged state, and writes a state that can be read', async () => {
    const folder = await newFolder();
    const path = join(folder, 'pages.json');
    expect(new Map(await readPageState(path))).toEqual(new Map());
    for (const damaged of ['{\n', '{"etag":"1"}\n', 'null\n']) {
      await writeFile(path, damaged);
      await expectError(readPageState(path), 'PAGE_STATE_INVALID');
    }
    const state: PageState = new Map([['https://a/', { etag: '"1"', lastModified: 'x' }]]);
    await writePageState(path, state);
    expect(new Map(await readPageState(path))).toEqual(state);
  });
});

describe('readSitemap', () => {
  const collect = async (url: string, options: Parameters<typeof readSitemap>[1] = {}): Promise<string[]> => {
    const urls: string[] = [];
    for await (const page of readSitemap(url, { allowPrivateAddresses: true, ...options })) urls.push(page);
    return urls;
  };

  test('reads an index, compressed sitemaps and lists, each URL once', async () => {
    const site: Site = await startSite({
      '/sitemap.xml': (_request, response) =>
        response.end(
          `<?xml version="1.0"?><sitemapindex><sitemap><loc>${site.url}/a.xml.gz</loc></sitemap><sitemap><loc> /b.txt </loc></sitemap><sitemap><loc>${site.url}/missing.xml</loc></sitemap><sitemap><loc>${site.url}/sitemap.xml</loc></sitemap></sitemapindex>`,
        ),
      '/a.xml.gz': (_request, response) =>
        response.end(
          gzipSync(
            `<urlset xmlns:image="x"><url><loc>${site.url}/1?a=1&amp;b=2</loc><image:image><image:loc>${site.url}/x.png</image:loc></image:image></url><url><loc>https://elsewhere.example/</loc></url></urlset>`,
          ),
        ),
      '/b.txt': (_request, response) => response.end(`${site.url}/1?a=1&b=2\n${site.url}/2\n`),
    });
    const failed: string[] = [];
    const onSkip = ({ url }: { url: string }): void => void failed.push(url);
    expect(await collect(`${site.url}/sitemap.xml`, { onSkip })).toEqual([`${site.url}/1?a=1&b=2`, `${site.url}/2`]);
    expect(failed).toEqual(['https://elsewhere.example/', `${site.url}/missing.xml`]);
    expect(await collect(`${site.url}/b.txt`, { maxUrls: 1 })).toEqual([`${site.url}/1?a=1&b=2`]);
  });

  test('reads URLs of the host that the sitemap redirects to', async () => {
    const other = await startSite({
      '/sitemap.xml': (_request, response) => response.end(`${other.url.replace('127.0.0.1', 'localhost')}/a`),
    });
    const target = `${other.url.replace('127.0.0.1', 'localhost')}/sitemap.xml`;
    const { url } = await startSite({
      '/sitemap.xml': (_request, response) => response.writeHead(301, { location: target }).end(),
    });
    expect(await collect(`${url}/sitemap.xml`)).toEqual([target.replace('sitemap.xml', 'a')]);
    await expectError(collect(`${other.url}/sitemap.xml`), 'SITEMAP_INVALID', 'no URLs of 127.0.0.1');
  });

  test('rejects deep nesting at once', async () => {
    const { url } = await startSite({
      '/deep.xml': (_request, response) => response.end(`<urlset>${'<a>'.repeat(1_000_000)}`),
    });
    await expectError(collect(`${url}/deep.xml`), 'SITEMAP_INVALID', 'nested more than 100 deep');
  });

  test('rejects a file that is missing, is not a sitemap, or unpacks to too much', async () => {
    const { url } = await startSite({
      '/page': '<html><body>Hello</body></html>',
      '/bomb.xml.gz': (_request, response) => response.end(gzipSync('x'.repeat(1_000_000))),
    });
    await expect(collect(`${url}/none.xml`)).rejects.toMatchObject({
      code: 'PAGE_REQUEST_FAILED',
      details: { status: 404 },
    });
    await expectError(collect(`${url}/page`), 'SITEMAP_INVALID');
    await expectError(collect(`${url}/bomb.xml.gz`, { maxFileSize: 10_000 }), 'SITEMAP_INVALID');
    await expectError(collect(`${url}/page`, { allowPrivateAddresses: false }), 'PAGE_ADDRESS_PRIVATE');
  });
});
