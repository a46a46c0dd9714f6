import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MDocument } from '../document.js';
import { htmlToMarkdown } from './html-to-markdown.js';

const toText = (html: string): string => htmlToMarkdown(html, { name: 'page.html' }).text;

describe('htmlToMarkdown', () => {
  test.each([
    ['<h2>Title <em>x</em></h2><p>Hello  <b>world</b><br>again</p>', '## Title x\n\nHello world\nagain'],
    ['<h1><div>In a box</div></h1>text', '# In a box\n\ntext'],
    ['<h1><a href="https://a.example/">Site</a> two</h1>', '# Site two'],
    ['<ul><li>a<li><p>b</p><ol start="3"><li>c<li>d<p>more</ol></ul>', '- a\n- b\n  3. c\n  4. d\n     more'],
    [
      '<table><tr><th>A<th>B<tr><td>1|2<td><p>x<p>y</table>',
      String.raw`| A | B |
| --- | --- |
| 1\|2 | x y |`,
    ],
    ['<table><tr><td colspan=2>A<td>B<tr><td>1<td>2<td>3</table>', '| A | A | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |'],
    [
      '<table><tr><th>A<th>B<tr><td>one<td><table><tr><td>x<td>1<tr><td>y<td>2</table><tr><td>two<td>z</table>',
      '| A | B |\n| --- | --- |\n| one | x 1 y 2 |\n| two | z |',
    ],
    ['<table><tr><td>left<td><table><tr><td>inner</table></table>', 'left\n\ninner'],
    ['<pre><code>let a\n  = `1`;\n</code></pre>', '```\nlet a\n  = `1`;\n```'],
    ['<blockquote><p>q</p><p>r</p></blockquote>', '> q\n> \n> r'],
    [
      '<p># no heading</p><p>---</p>',
      String.raw`\# no heading

\---`,
    ],
    ['<a href="https://a.b/(c)">link</a> <a href="/x">page</a>', '[link](https://a.b/%28c%29) page'],
    ['a &amp; b &eacute;<script>no()</script><style>p{}</style>', 'a & b é'],
    ['<p>Run <code>npm test</code>.</p>', 'Run `npm test`.'],
    ['text</td></li></ul></table></h1> after', 'text after'],
  ])('converts %s', (html, markdown) => {
    expect(toText(html)).toBe(markdown);
  });

  const inOrder = (words: string[]): string[] => words;
  const inAnyOrder = (words: string[]): string[] => words.toSorted();
  test.each([
    [['p', 'div', 'ul', 'li', 'ol', 'b', 'blockquote', 'h2', 'pre', 'a', 'code', 'section'], inOrder],
    [['table', 'tr', 'td', 'th', 'p'], inAnyOrder],
  ])('keeps every word of any elements of %j, once', (names, order) => {
    const events = fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom('<', '</', '')), { maxLength: 60 });
    fc.assert(
      fc.property(events, (list) => {
        const html = list.map(([name, kind], index) => (kind === '' ? ` w${index} ` : `${kind}${name}>`)).join('');
        const words = list.flatMap(([, kind], index) => (kind === '' ? [`w${index}`] : []));
        expect(order(toText(html).match(/w\d+/g) ?? [])).toEqual(order(words));
      }),
    );
  });

  test.each(['ul><li', 'blockquote', 'table><tr><td', 'b', 'h1', 'pre', 'code'])(
    'reads 3,000 nested <%s>',
    (element) => {
      expect(toText(`${`<${element}>`.repeat(3000)}word`)).toContain('word');
    },
  );

  test('rejects elements nested more than 10,000 deep', () => {
    expect(() => toText('<b>'.repeat(10_001))).toThrow(expect.objectContaining({ code: 'HTML_TOO_DEEP' }));
  });

  test.each([
    ['<li>x'.repeat(50_000)],
    ['<td>'.repeat(50_000)],
    ['<a href="https://x.y">'.repeat(5000)],
    [`<table>${'<tr><td colspan=1000000000>x'.repeat(2000)}</table>`],
    [`<p>${'`'.repeat(200_000)}</p>`],
    [`<pre>${' '.repeat(200_000)}</pre>x`],
    [`<pre>${'\n'.repeat(200_000)}x${'\n'.repeat(200_000)}x</pre>`],
    [`<p>x${' \n '.repeat(100_000)}x<br>${'<br>'.repeat(50_000)}</p>`],
    [`<ol start="1e300"><li>x</ol>`],
    ['</p>'.repeat(50_000)],
    [`<p>${'-'.repeat(100_000)}x</p>`],
  ])('reads hostile markup in one go: %#', (html) => {
    expect(toText(html).length).toBeLessThan(3 * html.length + 500_000);
  });

  test('writes each value of a wide table with the name of its column', async () => {
    const names = Array.from({ length: 60 }, (_, column) => `Measure ${column}`);
    const row = (tag: string, cells: string[]): string => `<tr>${cells.map((cell) => `<${tag}>${cell}`).join('')}</tr>`;
    const rows = Array.from({ length: 20 }, (_, n) =>
      row(
        'td',
        names.map((_, column) => `value ${n}.${column}`),
      ),
    );
    const html = `<h1>Data</h1><table>${row('th', names)}${rows.join('')}</table>`;
    const chunks = await MDocument.fromHTML(html).chunk({ maxSize: 1500, overlap: 0 });
    const values = chunks.flatMap(({ text }) => text.match(/value \d+\.\d+/g) ?? []);
    expect(values).toHaveLength(1200);
    for (const { text } of chunks)
      for (const line of text.split('\n')) expect(line).toMatch(/^(?:# Data|Measure (\d+): value \d+\.\1|)$/);
    const narrow = toText(`<table>${row('th', ['A', 'B'])}${row('td', ['1', 'x'.repeat(2000)])}</table>`);
    expect(narrow).toMatch(/^\| A \| B \|/);
  });
});
