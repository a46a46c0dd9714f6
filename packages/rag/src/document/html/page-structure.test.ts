import { assert, array, constantFrom, property, tuple, integer } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { htmlToMarkdown } from './html-to-markdown.js';

const prose = 'The store maps its file into memory when it opens the index, and reads the log after it. ';
const links = (count: number): string =>
  Array.from({ length: count }, (_, place) => `<li><a href="/${place}">Chapter number ${place}</a></li>`).join('');

/** The searched text of a page, and the kinds of what is not searched. */
function read(html: string): { searched: string; kinds: string[]; text: string } {
  const { text, skip } = htmlToMarkdown(html, { name: 'page.html' });
  let searched = text;
  for (const { start, end } of skip.toReversed()) searched = searched.slice(0, start) + searched.slice(end);
  return { searched: searched.replace(/\n{3,}/g, '\n\n').trim(), kinds: skip.map(({ kind }) => kind), text };
}

describe('what is not searched', () => {
  test.each<[string, string, string[]]>([
    ['an element for navigation', `<nav>Menu</nav><h1>A</h1><p>${prose}</p>`, ['navigation']],
    ['a role', `<div role="banner">Site</div><h1>A</h1><p>${prose}</p>`, ['navigation']],
    [
      'what is outside of the main content',
      `<div>Menu</div><main><h1>A</h1><p>${prose}</p></main><div>End</div>`,
      ['navigation', 'navigation'],
    ],
    [
      'Sphinx',
      `<div class="related"><a href="/">next</a></div><div class="sphinxsidebar"><a href="/">Show Source</a></div><div class="body" role="main"><h1>A<a class="headerlink" href="#a">¶</a></h1><p>${prose}</p></div>`,
      ['navigation', 'navigation'],
    ],
    [
      'DocBook',
      `<div class="navheader"><table><tr><td><a href="a">Prev</a><td>Part I<td><a href="b">Next</a></table></div><div class="chapter"><h1>A</h1><div class="toc"><dl><dt><a href="1">One</a></dt><dt><a href="2">Two</a></dt></dl></div><p>${prose}</p></div><div class="navfooter"><a href="b">Next</a></div>`,
      ['navigation', 'contents', 'navigation'],
    ],
    [
      'Doxygen',
      `<div id="top"><div id="main-nav"><a href="/">Main Page</a></div></div><div class="header"><div class="summary"><a href="#f">Functions</a></div></div><div class="contents"><h1>A</h1><p>${prose}</p></div>`,
      ['navigation', 'navigation'],
    ],
    [
      'Javadoc',
      `<div class="topNav"><ul class="navList"><li><a href="/">Package</a></li></ul></div><h1>A</h1><p>${prose}</p>`,
      ['navigation'],
    ],
    [
      'texinfo',
      `<div class="nav-panel">Next: <a href="b">B</a>, Up: <a href="t">Top</a></div><h1>A</h1><p>${prose}</p>`,
      ['navigation'],
    ],
    ['a list of links', `<h1>A</h1><ul>${links(20)}</ul><p>${prose.repeat(4)}</p>`, ['contents']],
    [
      'a cookie notice',
      `<h1>A</h1><p>${prose}</p><div id="cookie-consent">We use cookies to improve this site.</div>`,
      ['notice'],
    ],
  ])('%s', (_what, html, kinds) => {
    const page = read(`<html><body>${html}</body></html>`);
    expect(page.kinds).toEqual(kinds);
    expect(page.searched).toContain('# A');
    expect(page.searched).toContain(prose.trim());
    expect(page.searched).not.toMatch(
      /Menu|Site|Show Source|Prev|Next|Main Page|Functions|Package|Chapter|cookies|End|¶/,
    );
  });

  test.each<[string, string]>([
    ['a section that is called menu', `<h1>A</h1><section id="menu"><h2>Menu</h2><p>${prose}</p></section>`],
    ['a wrapper that is called after its sidebar', `<div class="has-sidebar"><h1>A</h1><p>${prose}</p></div>`],
    ['the header of the page with its only title', `<header><h1>A</h1></header><main><p>${prose}</p></main>`],
    ['the header of an article', `<article><header><h1>A</h1><p>Menu by Ada</p></header><p>${prose}</p></article>`],
    [
      'a list of links with explanations',
      `<h1>A</h1><ul>${'<li><a href="/x">Menu</a>: explains how a menu is written</li>'.repeat(20)}</ul><p>${prose}`,
    ],
    [
      'code in an element that is called after navigation',
      `<h1>A</h1><div class="nav-example"><pre>Menu</pre></div><p>${prose}</p>`,
    ],
    ['a page that consists of navigation', '<nav><h1>A</h1><a href="/">Menu</a></nav>'],
  ])('is not %s', (_what, html) => {
    const { searched, kinds } = read(html);
    expect(kinds).toEqual([]);
    expect(searched).toMatch(/A/);
  });

  test('is the whole list of a page that says that it is an index', () => {
    const { searched, kinds } = read(`<title>Index</title><h1>Index</h1><ul>${links(200)}</ul>`);
    expect(kinds).toEqual(['contents']);
    expect(searched).toBe('# Index');
  });

  test('leaves out marks behind headings, buttons and text for screen readers', () => {
    const html =
      '<h2>A <a href="#a" class="anchor" aria-hidden="true">#</a><a href="#a">¶</a></h2><button>Copy</button><p>B<span class="sr-only">Skip</span></p>';
    expect(read(html).text).toBe('## A\n\nB');
  });

  test('keeps a heading that is a link to the contents of the page', () => {
    const { text, kinds } = read(
      '<h2><a class="toc-backref" href="#id2">Primer</a></h2><p>The first part of the text explains the words that the others use.</p>',
    );
    expect(text).toBe('## Primer\n\nThe first part of the text explains the words that the others use.');
    expect(kinds).toEqual([]);
  });

  test('keeps every word in the text', () => {
    const names = constantFrom(
      'nav',
      'div class="sidebar"',
      'ul',
      'li',
      'table',
      'tr',
      'td',
      'main',
      'p',
      'blockquote',
      'dl',
      'dt',
      'dd',
    );
    const events = array(tuple(names, integer({ min: 0, max: 2 })), { maxLength: 60 });
    assert(
      property(events, (list) => {
        const html = list
          .map(([name, kind], index) =>
            kind === 0 ? ` w${index} ` : kind === 1 ? `<${name}>` : `</${name.split(' ')[0]}>`,
          )
          .join('');
        const { text, skip } = htmlToMarkdown(html, { name: 'page.html' });
        const words = list.flatMap(([, kind], index) => (kind === 0 ? [`w${index}`] : []));
        expect((text.match(/w\d+/g) ?? []).toSorted()).toEqual(words.toSorted());
        let last = 0;
        for (const { start, end } of skip) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          last = end;
        }
        expect(last).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});

describe('definitions', () => {
  test.each([
    ['<dl><dt>A<dd>One<dt>B<dt>C<dd>Two<dd>Three</dl>', 'A\n: One\n\nB\nC\n: Two\n\n: Three'],
    ['<dl><dt>A<dd><p>One<p>Two</dl>', 'A\n: One\n\nTwo'],
    ['<dl><dt>A<dd><ul><li>x</ul></dl>', 'A\n\n- x'],
    ['<dl><div><dt>A</dt><dd>One</dd></div></dl>', 'A\n: One'],
    ['<dt>A</dt><dd>One</dd>', 'A\n\nOne'],
  ])('%s', (html, text) => {
    expect(read(html).text).toBe(text);
  });
});

describe('cells that span rows and columns', () => {
  const cells = array(
    array(tuple(integer({ min: 1, max: 3 }), integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 4 }),
    { minLength: 2, maxLength: 5 },
  );

  test('are in every column and row that they span', () => {
    assert(
      property(cells, (rows) => {
        // The grid as the HTML standard forms it.
        const grid: string[][] = rows.map(() => []);
        const html = rows.map((row, y) => {
          let x = 0;
          const written = row.map(([width, height], place) => {
            while (grid[y]![x] !== undefined) x += 1;
            let free = 1;
            while (free < width && grid[y]![x + free] === undefined) free += 1;
            const text = `c${y}-${place}`;
            for (let down = 0; down < Math.min(height, rows.length - y); down += 1)
              for (let right = 0; right < free; right += 1) grid[y + down]![x + right] = text;
            x += free;
            return `<td colspan="${free}" rowspan="${height}">${text}</td>`;
          });
          return `<tr>${written.join('')}</tr>`;
        });
        const width = Math.max(...grid.map(({ length }) => length));
        const expected = grid.map((row) => Array.from({ length: width }, (_, x) => row[x] ?? ''));
        const { text } = htmlToMarkdown(`<table>${html.join('')}</table>`, { name: 'page.html' });
        if (width < 2) return;
        const [header, , ...body] = text.split('\n');
        const read = [header!, ...body].map((line) =>
          line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        );
        expect(read.map((row) => Array.from({ length: width }, (_, x) => row[x] ?? ''))).toEqual(expected);
      }),
    );
  });

  test.each([
    `<table>${'<tr><td rowspan=99999 colspan=50>x'.repeat(2000)}</table>`,
    `<table><tr><td rowspan=0>${'word '.repeat(20_000)}<td>y${'<tr><td>x'.repeat(2000)}</table>`,
  ])('do not fill the memory: %#', (html) => {
    expect(htmlToMarkdown(html, { name: 'page.html' }).text.length).toBeLessThan(8_000_000);
  });
});
