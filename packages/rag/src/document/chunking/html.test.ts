import * as fc from 'fast-check';
import { parse } from 'parse5';
import { describe, expect, test } from 'vitest';
import { expectLinearTime } from '../../../../../scripts/test-cpu-time.ts';
import { expectError } from '../../../../../scripts/test-error.ts';
import { MDocument } from '../document.js';
import { referenceText } from './reference-text.fixture.js';

const page = `<!doctype html>
<html lang="en"><head><title>Shop</title><style>p { color: red }</style></head>
<body>
<nav><a href="/">Home</a></nav>
<main><h1>Coats &amp; more</h1>
  <p>Warm   <b>ones</b>,
  2&nbsp;&euro; each. They are made of wool, and lined.</p>
  <h2>Winter</h2><ul><li>Below five</li><li>degrees<br>Celsius</li></ul>
  <script>if (a < b) alert('<p>no</p>')</script>
  <table><tr><th>Size</th><th>Price</th></tr><tr><td>M</td><td>90</td></tr></table>
<h2>Summer</h2><pre>x
  y</pre></main>
</body></html>`;

/** The chunks of a page without their places, each of which is checked. */
async function chunk(text: string, options = {}): Promise<Record<string, unknown>[]> {
  const document = MDocument.fromHTML(text);
  const chunks = await document.chunk(options);
  const [source] = document.sources;
  return chunks.map(({ text: content, metadata: { startIndex, endIndex, ...rest } }) => {
    expect(content).toBe(source!.text.slice(startIndex, endIndex));
    return { text: content, ...rest };
  });
}

describe('html chunks', () => {
  test('are the sections of the page as Markdown, with what its head says, and without navigation', async () => {
    const document = MDocument.fromHTML(page);
    const head = { title: 'Shop', language: 'en' };
    expect(await chunk(page, { strategy: 'html', minSize: 0 })).toEqual([
      {
        ...head,
        headings: ['Coats & more'],
        text: '# Coats & more\n\nWarm ones, 2\u00a0€ each. They are made of wool, and lined.',
      },
      {
        ...head,
        headings: ['Coats & more', 'Winter'],
        text: '## Winter\n\n- Below five\n- degrees\n  Celsius\n\n| Size | Price |\n| --- | --- |\n| M | 90 |',
      },
      { ...head, headings: ['Coats & more', 'Summer'], text: '## Summer\n\n```\nx\n  y\n```' },
    ]);
    await document.chunk();
    expect(document.skippedText).toEqual({ navigation: 4 });
    expect(document.sources[0]!.text).toMatch(/^Home\n\n# Coats/);
  });

  test('have the metadata of the caller in place of that of the page, and absolute links with a URL', async () => {
    const text = '<html lang="en"><title>One</title><h1>One</h1><p>See <a href="two.html">the second</a>.';
    const document = MDocument.fromHTML(text, { source: 'https://example.com/one.html', language: 'de' });
    expect(await document.chunk()).toMatchObject([
      {
        text: '# One\n\nSee [the second](https://example.com/two.html).',
        metadata: { source: 'https://example.com/one.html', title: 'One', language: 'de' },
      },
    ]);
  });

  test('are those of a page whose document has another type', async () => {
    const [one] = await MDocument.fromText('<h1>T</h1><p>a &lt; b').chunk({ strategy: 'html' });
    expect(one).toMatchObject({ text: '# T\n\na < b', metadata: { headings: ['T'] } });
    const [other] = await MDocument.fromText('<h1>T</h1>').chunk();
    expect(other!.text).toBe('<h1>T</h1>');
  });

  test('name their headings by the keys of headers, which alone begin a chunk', async () => {
    const text = '<h1>One</h1>a<h2>Two</h2>b<h3>Three</h3>c';
    expect(
      await chunk(text, {
        strategy: 'html',
        headers: [
          ['h1', 'title'],
          ['h3', 'part'],
        ],
      }),
    ).toMatchObject([
      { text: '# One\n\na\n\n## Two\n\nb', title: 'One', headings: ['One'] },
      { text: '### Three\n\nc', title: 'One', part: 'Three', headings: ['One', 'Three'] },
    ]);
  });

  test('name the elements that are sections by their first heading, label or id', async () => {
    const text =
      '<article aria-label="All">a<section id="s"><h2>First</h2>b</section>c<section id="last">d</section></article>e';
    const options = {
      strategy: 'html',
      sections: [
        ['article', 'article'],
        ['section', 'section'],
      ],
    };
    expect(await chunk(text, options)).toMatchObject([
      { text: 'a', article: 'First' },
      { text: '## First\n\nb', article: 'First', section: 'First' },
      { text: 'c', article: 'First' },
      { text: 'd', section: 'last' },
      { text: 'e' },
    ]);
    expect((await chunk(text, options))[2]).not.toHaveProperty('section');
  });

  test('name elements that are sections, also if other elements precede their text', async () => {
    const options = { strategy: 'html', sections: [['section', 'section']] };
    for (const start of ['<img src="a">', '<a id="top"></a>', '<br>', '<script>code</script>', '<section></section>']) {
      expect(await chunk(`<section>${start}<h2>First</h2>b</section>`, options)).toMatchObject([
        { text: '## First\n\nb', section: 'First' },
      ]);
    }
    expect(await chunk('<section id="empty"><br></section>a', options)).not.toMatchObject([{ section: 'empty' }]);
  });

  test('have the name of the inner one of two sections with the same text', async () => {
    const options = { strategy: 'html', sections: [['section', 'section']] };
    const text = '<section id="outer"><section id="inner">a</section></section>';
    expect(await chunk(text, options)).toMatchObject([{ text: 'a', section: 'inner' }]);
  });

  test('name the elements of a long page whose characters are all of several code units', async () => {
    const pieces = await chunk('<div id="a">👍</div>'.repeat(2_000), {
      strategy: 'html',
      sections: [['div', 'part']],
    });
    expect(pieces).toHaveLength(2_000);
    expect(pieces.at(-1)).toMatchObject({ text: '👍', part: 'a' });
  });

  test('keep to the size, and can be one for each block', async () => {
    const text = `<h1>T</h1>${'<p>some words in a paragraph</p>'.repeat(20)}`;
    const pieces = await chunk(text, { maxSize: 60, overlap: 0 });
    expect(pieces.slice(1, -1).map((piece) => piece['text'])).toEqual(
      Array.from({ length: pieces.length - 2 }, () => 'some words in a paragraph\n\nsome words in a paragraph'),
    );
    expect(await chunk(text, { strategy: 'html', returnEachLine: true })).toHaveLength(21);
  });

  test('contain the text of invalid markup', async () => {
    expect(await chunk('</p>a <b>b <p>c & d &unknown; <li>e</div></b> <! f <')).toMatchObject([
      { text: expect.stringMatching(/^a b\s+c & d &unknown;\s+- e/) as string },
    ]);
    expect(await chunk('<script>only code</script>')).toEqual([]);
  });

  test('without structure or options work', async () => {
    expect(await chunk('just text')).toEqual([{ text: 'just text' }]);
  });
});

const inline = fc.constantFrom(
  'a',
  ' ',
  'word ',
  '\n',
  '&amp;',
  '&lt;',
  '&#x1F469;&#x200D;&#x1F467;',
  'e\u0301',
  '日本',
  '🇩🇪',
  '&nbsp;',
  '\t',
  '&copy;',
);
const { node } = fc.letrec<{ node: string; children: string }>((tie) => ({
  children: fc.array(tie('node'), { maxLength: 4 }).map((nodes) => nodes.join('')),
  node: fc.oneof(
    { maxDepth: 4 },
    inline,
    fc.constant('<br>'),
    fc.constant('<!-- x -->'),
    fc.constant('<script>a<b</script>'),
    fc
      .tuple(fc.constantFrom('div', 'section', 'b', 'span', 'article', 'pre'), tie('children'))
      .map(([name, children]) => `<${name}>${children}</${name}>`),
    fc
      .tuple(fc.constantFrom('h1', 'h2', 'h3'), fc.array(inline))
      .map(([name, children]) => `<${name}>${children.join('')}</${name}>`),
  ),
}));

const options = fc.integer({ min: 1, max: 30 }).chain((maxSize) =>
  fc.record({
    maxSize: fc.constant(maxSize),
    overlap: fc.constant(0),
    stripWhitespace: fc.boolean(),
    returnEachLine: fc.boolean(),
    sections: fc.constantFrom(
      [],
      [
        ['section', 's'],
        ['article', 'a'],
      ],
    ),
  }),
);

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });
/** Letters, without the marks of Markdown. */
const bare = (text: string): string => text.replace(/[^\p{L}\p{N}\p{S}\u200D]|[`#|]/gu, '');

test('every text of a page is in exactly one chunk, decoded as parse5 decodes it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(node), options, async (nodes, given) => {
      const source = `<body>${nodes.join('')}</body>`;
      const document = MDocument.fromHTML(source);
      const chunks = await document.chunk({ strategy: 'html', ...given });
      const { text } = document.sources[0]!;
      expect(document.skippedText).toEqual({});
      expect(bare(chunks.map((one) => one.text).join(''))).toBe(bare(referenceText(parse(source))));
      let covered = 0;
      for (const { text: own, metadata } of chunks) {
        expect(metadata.startIndex).toBeGreaterThanOrEqual(covered);
        covered = metadata.endIndex;
        expect(text.slice(metadata.startIndex, covered)).toBe(own);
        expect(own.length <= given.maxSize || [...segmenter.segment(own)].length === 1).toBe(true);
      }
    }),
    { numRuns: 1000 },
  );
});

const sections = { strategy: 'html', maxSize: 1000, sections: [['section', 'x']] } as const;

test.each(['<p>a', '<h2>a</h2>', '&amp;', ' ', '</p>', '<', '<!--', 'a ', '<section>a</section>', '<td>a'])(
  'takes CPU time in proportion to a page of %j',
  (unit) => expectLinearTime((length) => MDocument.fromHTML(unit.repeat(length / unit.length)).chunk(sections), 20_000),
);

test.each(['<div>', '<section>', '<h1>', '<b>a', '<pre>\n'])('rejects a page of %j at once', (unit) =>
  expectLinearTime(
    (count) => expectError(MDocument.fromHTML(unit.repeat(count)).chunk(sections), 'HTML_TOO_DEEP'),
    12_000,
  ),
);
