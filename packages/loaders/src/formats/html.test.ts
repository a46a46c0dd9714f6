import { describe, expect, test } from 'vitest';
import { MDocument } from '@quiver/rag/document';
import { loadDocument, type LoadDocumentOptions } from '../load-document.js';

/** A page, and the text of its chunks. */
async function readPage(html: string, name: string, options: LoadDocumentOptions = {}) {
  const [document] = await loadDocument(new TextEncoder().encode(html), { name, mediaType: 'text/html', ...options });
  const { text, metadata } = document!.sources[0]!;
  const searched = (await document!.chunk()).map((chunk) => chunk.text).join('\n');
  return { text, searched, skipped: document!.skippedText, ...metadata } as {
    text: string;
    searched: string;
    skipped: Record<string, number>;
    source: string;
    title?: string;
    language?: string;
  };
}

const url = 'https://docs.example.com/guide/start.html?v=1#top';
const prose = 'The store maps its file into memory when it opens the index, and reads the log after it. ';
const page = (head: string, body: string): string => `<!doctype html><html>${head}<body>${body}</body></html>`;
const article = `<nav>Menu</nav><article><p>${prose.repeat(3)}</p><p>${prose.repeat(3)}</p></article>`;

describe('HTML', () => {
  test('writes the main content with absolute links, tables, lists and code', async () => {
    const { text, searched } = await readPage(
      page(
        '<title>Start</title>',
        `<nav>Menu</nav><article><p>${prose.repeat(3)}</p><h2>Steps</h2><p>${prose.repeat(2)} See <a href="../api.html#open">the API</a>.</p><ul><li>One</li><li>Two</li></ul><table><tr><th>Key<th>Value<tr><td>a<td>1</table><pre>npm install\n  --save</pre><p>${prose}</p></article>`,
      ),
      url,
    );
    expect(text).toContain('## Steps');
    expect(text).toContain('[the API](https://docs.example.com/api.html#open)');
    expect(text).toContain('- One\n- Two');
    expect(text).toContain('| Key | Value |\n| --- | --- |\n| a | 1 |');
    expect(text).toContain('```\nnpm install\n  --save\n```');
    expect(text).toMatch(/^# Start\n/);
    expect(searched).not.toContain('Menu');
  });

  test.each([
    ['', 'https://docs.example.com/guide/start.html?v=1'],
    ['<link rel="canonical" href="/guide/start">', 'https://docs.example.com/guide/start'],
    ['<link rel="canonical" href="https://other.example.com/guide">', 'https://docs.example.com/guide/start.html?v=1'],
    ['<link rel="canonical" href="javascript:alert(1)">', 'https://docs.example.com/guide/start.html?v=1'],
    ['<base href="/en/"><link rel="canonical" href="start">', 'https://docs.example.com/en/start'],
  ])('uses a canonical URL of its own origin: %s', async (head, expected) => {
    expect((await readPage(page(`<head>${head}</head>`, article), url)).source).toBe(expected);
  });

  test('resolves links against the base of the page, and leaves out scripts', async () => {
    const links = '<p><a href="a.html">A</a> <a href="javascript:alert(1)">B</a><script>track()</script></p>';
    const { text } = await readPage(page('<base href="https://cdn.example.com/docs/">', links), url);
    expect(text).toBe('[A](https://cdn.example.com/docs/a.html) B');
  });

  test('does not search a title that is alone before the contents of the page', async () => {
    const contents = `<ul>${Array.from({ length: 9 }, (_, n) => `<li><a href="#s${n}">Section ${n}</a></li>`).join('')}</ul>`;
    const start = (title: string): string =>
      page('<title>Upsert</title>', `<div>${title}</div>${contents}<h2>Use</h2><p>${prose.repeat(6)}</p>`);
    const { text, searched, skipped } = await readPage(start('Upsert'), url);
    expect(skipped['heading']).toBe(6);
    expect(text).toMatch(/^(?:# Upsert\n\n)?Upsert\n\n- /);
    expect(searched).toContain('## Use');
    expect(searched).not.toMatch(/^Upsert$/m);
    expect((await readPage(start('About Upsert'), url)).skipped).not.toHaveProperty('heading');
  });

  test('gives the chunks that MDocument.fromHTML gives', async () => {
    const html = page(
      '<title>Upsert</title>',
      `<nav>Menu</nav><h1>Upsert</h1><table><tr><th>Key<th>Value<tr><td>a<td>1</table><p>${prose.repeat(40)}</p>`,
    );
    const [file] = await loadDocument(new TextEncoder().encode(html), { name: 'upsert.html' });
    const text = MDocument.fromHTML(html, { source: 'upsert.html' });
    const chunks = await text.chunk({ maxSize: 1000 });
    expect(chunks.length).toBeGreaterThan(2);
    expect(await file!.chunk({ maxSize: 1000 })).toEqual(chunks);
    expect(text.sources).toMatchObject(file!.sources);
    expect(text.skippedText).toEqual(file!.skippedText);
  });

  test('reads pages without html and body elements', async () => {
    const { text, title } = await readPage(`<title>Plain &amp; short</title><p>${prose.repeat(4)}`, url);
    expect(title).toBe('Plain & short');
    expect(text).toContain(prose.trim());
  });

  // Each of these crashed or slowed down one of the parsers.
  test.each([
    ['deep', '<div>'.repeat(3000) + prose.repeat(4)],
    ['as deep as the search for main content allows', '<div>'.repeat(140) + prose.repeat(4)],
    ['full of angle brackets', prose.repeat(4) + '<'.repeat(300_000)],
    ['a list of links', '<a href="/x">word</a> '.repeat(31_000) + prose.repeat(4)],
    ['long', `<p>${prose.repeat(25_000)}`],
  ])('reads a page that is %s', async (_what, html) => {
    expect((await readPage(html, url)).text).toContain(prose.trim());
  });

  test('rejects a page that is nested too deep for any parser', async () => {
    await expect(readPage('<b>'.repeat(100_000), url)).rejects.toMatchObject({ code: 'HTML_TOO_DEEP' });
  });
});
