import { describe, expect, test } from 'vitest';
import { MDocument, type DocumentType } from '../document.js';
import type { ChunkParams } from './chunking-strategy.js';

const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n % 9}`).join(' ');

async function chunk(text: string, type: DocumentType, params: ChunkParams): Promise<string[]> {
  return (await new MDocument({ text, type }).chunk({ overlap: 0, ...params } as ChunkParams)).map(
    (found) => found.text,
  );
}

/** Texts in which no chunk may end with the first line of a pair, however large a chunk is. */
const pairs: [string, DocumentType, (n: number) => [first: string, second: string]][] = [
  ['a term and its definition in Markdown', 'markdown', (n) => [`HISTORY_${n}`, `The number ${n} of ${words(9)}.`]],
  ['a definition list of Markdown', 'markdown', (n) => [`Term ${n}`, `: Means ${n} ${words(9)}.`]],
  ['two terms with one definition', 'markdown', (n) => [`-a${n}\n\n--all-${n}`, `Shows all ${n} ${words(9)}.`]],
  ['a sentence and its list', 'markdown', (n) => [`There are ${n} kinds:`, `- one ${words(4)}\n- two ${words(4)}`]],
  [
    'a sentence and its code',
    'markdown',
    (n) => [`Call it ${n} times:`, `\`\`\`js\ncall(${n}); // ${words(5)}\n\`\`\``],
  ],
  [
    'a caption and its table',
    'markdown',
    (n) => [`Table ${n}. All values.`, `| a | b |\n| --- | --- |\n| ${n} | ${words(5)} |`],
  ],
  ['a label and its text', 'markdown', (n) => [`**Warning**`, `Never do it ${n} times, ${words(9)}.`]],
  [
    'an option and its indented text',
    'text',
    (n) => [`  -o${n}, --option=${n}`, `         Sets it to ${n}\n         ${words(9)}.`],
  ],
  ['an option and text behind a blank line', 'text', (n) => [`  --opt${n}`, `\n      Sets it to ${n}, ${words(9)}.`]],
  ['a heading of a man page and its text', 'text', (n) => [`SECTION ${n}`, `     Text of ${n}, ${words(9)}.`]],
];

describe('no chunk ends between', () => {
  test.each(pairs)('%s', async (_what, type, pair) => {
    const separator = type === 'markdown' ? '\n\n' : '\n';
    const list = Array.from({ length: 12 }, (_, n) => pair(n));
    const text = list.map((both) => both.join(separator)).join(type === 'markdown' ? '\n\n' : '\n');
    const longest = Math.max(...list.map((both) => both.join(separator).length));
    for (let maxSize = longest + 20; maxSize < 3 * longest; maxSize += 7) {
      for (const found of await chunk(text, type, { maxSize, minSize: 0 })) {
        const end = found.trimEnd();
        expect(list.some(([first]) => end.endsWith(first.trimEnd()))).toBe(false);
      }
    }
  });

  test('the term and the definition of an HTML list, also with a paragraph in it', async () => {
    const items = Array.from(
      { length: 9 },
      (_, n) => `<dt>The long name of term ${n}.</dt><dd><p>${words(12)} ${n}.</p></dd>`,
    );
    for (let maxSize = 130; maxSize < 400; maxSize += 9) {
      for (const found of await chunk(`<dl>${items.join('')}</dl>`, 'html', { maxSize })) {
        expect(found).toMatch(/^The long name of term/);
        expect(found).not.toMatch(/term \d\.$/);
      }
    }
  });
});

describe('what explains the text before stays with it if there is another cut:', () => {
  const before = `Before ${words(14)}.`;
  test.each([
    ['a note', `Text ${words(14)}.`, `Note: ${words(6)}.`],
    ['an alert of GitHub', `Text ${words(14)}.`, `> [!WARNING]\n> ${words(6)}.`],
    ['the caption of a table', `| a | b |\n| --- | --- |\n| 1 | ${words(9)} |`, 'Table 1: The values.'],
    ['a list without a colon before', `Text ${words(14)}.`, `- ${words(4)}\n- ${words(4)}`],
  ])('%s', async (_what, text, explanation) => {
    const both = `${text}\n\n${explanation}`;
    // Without the last part, the text would just fit into the first chunk.
    const maxSize = `${before}\n\n${text}`.length + 3;
    expect(both.length).toBeLessThan(maxSize);
    const chunks = await chunk(`${before}\n\n${both}`, 'markdown', { maxSize, minSize: 0 });
    expect(chunks.some((found) => found.includes(both))).toBe(true);
  });
});

describe('a heading', () => {
  test('stays with its text, also if that is longer than a chunk', async () => {
    const [first = '', ...others] = await chunk(`# Chapter\n\n## Section\n\n${words(200)}`, 'markdown', {
      maxSize: 300,
    });
    expect(first).toMatch(/^# Chapter\n\n## Section\n\nword0 word1/);
    expect(first.length).toBeGreaterThan(250);
    expect(others.length).toBeGreaterThan(2);
  });

  test('stays with its text, also if that fits only alone', async () => {
    const [first = ''] = await chunk(`# Chapter\n\n${words(20)}`, 'markdown', { maxSize: words(20).length + 5 });
    expect(first).toMatch(/^# Chapter\n\nword0 word1/);
  });

  test('joins the next section if it has no text, or the one before it at the end of the document', async () => {
    const text = `# One\n\n# Two\n\nText ${words(9)}.\n\n# Three\n\n## Four\n`;
    const chunks = await new MDocument({ text, type: 'markdown' }).chunk({ strategy: 'markdown', minSize: 0 });
    expect(chunks.map(({ text: found, metadata }) => [found, metadata.headings])).toEqual([[text.trimEnd(), ['Two']]]);
  });

  test.each([
    ['html', `<h1>Chapter</h1><h2>Section</h2><p>${words(200)}</p>`],
    ['latex', `\\chapter{Chapter}\n\\section{Section}\n${words(200)}`],
    ['semantic-markdown', `# Chapter\n\n## Section\n\n${words(200)}`],
  ] as const)('is not a chunk of %s', async (strategy, text) => {
    const type = strategy === 'html' ? 'html' : 'markdown';
    const [first] = await chunk(text, type, { strategy, maxSize: strategy === 'semantic-markdown' ? 60 : 200 });
    expect(first).toMatch(/Section[^]*word0 word1/);
  });
});

describe('a section below minSize', () => {
  const text = `# Guide\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n\n## Three\n\n${words(60)}.\n\n## Four\n\nLast.\n\n# Other\n\nEnd.`;
  const cut = async (params: ChunkParams): Promise<(readonly [string, unknown])[]> => {
    const chunks = await new MDocument({ text, type: 'markdown' }).chunk(params);
    return chunks.map(({ text: found, metadata }) => [found.replace(/word.*/s, '…'), metadata.headings] as const);
  };

  test('joins its neighbor under the same heading, and has the headings above both', async () => {
    expect(await cut({ strategy: 'markdown', minSize: 40 })).toEqual([
      ['# Guide\n\n## One\n\nFirst.\n\n## Two\n\nSecond.', ['Guide']],
      ['## Three\n\n…', ['Guide']],
      ['# Other\n\nEnd.', ['Other']],
    ]);
  });

  test('stays alone with minSize 0, and where both do not fit', async () => {
    const titles = async (params: ChunkParams): Promise<unknown[]> =>
      (await cut(params)).map(([, headings]) => headings);
    const all = [['Guide', 'One'], ['Guide', 'Two'], ['Guide', 'Three'], ['Guide', 'Four'], ['Other']];
    expect(await titles({ strategy: 'markdown', minSize: 0 })).toEqual(all);
    const tight = words(60).length + 15;
    expect((await titles({ strategy: 'markdown', minSize: 20, maxSize: tight, overlap: 0 })).slice(-3)).toEqual(
      all.slice(-3),
    );
  });

  test('has its own headings, and not those of the subsections that it joins', async () => {
    const source = `# Drinks\n\n## Tea\n\nHot.\n\n### Milk\n\n${words(60)}.`;
    const [only, ...others] = await new MDocument({ text: source, type: 'markdown' }).chunk();
    expect(others).toEqual([]);
    expect(only?.metadata.headings).toEqual(['Drinks', 'Tea']);
  });

  test.each([60, 600])('before the first heading joins the section behind it, of %d words', async (count) => {
    const source = `<h1 align="center">Guide</h1>\n\n## One\n\n${words(count)}.\n\n## Two\n\n${words(60)}.`;
    const [first] = await new MDocument({ text: source, type: 'markdown' }).chunk({ maxSize: 2000 });
    expect(first?.text).toMatch(/^<h1[^]*## One\n\nword0 word1/);
    expect(first?.metadata.headings).toEqual(['One']);
    const [long] = await new MDocument({ text: `${words(60)}.\n\n${source}`, type: 'markdown' }).chunk();
    expect(long?.metadata.headings).toBeUndefined();
  });
});

test('the rest of a section is not below minSize, unless blocks would be cut at other places', async () => {
  const paragraphs = Array.from({ length: 9 }, (_, n) => `Paragraph ${n} ${words(9)}.`);
  for (const strategy of ['markdown', 'recursive'] as const)
    for (let maxSize = 300; maxSize < 500; maxSize += 11)
      for (const found of await chunk(paragraphs.join('\n\n'), 'markdown', { strategy, maxSize, minSize: 75 })) {
        expect(found.length).toBeGreaterThanOrEqual(75);
        expect(found).toMatch(/^Paragraph \d [^]*\.$/);
      }
});

describe('a table', () => {
  test('with rows wider than a chunk has no chunk of its header, or of the rule below it', async () => {
    const row = (cell: (n: number) => string): string =>
      `| ${Array.from({ length: 20 }, (_, n) => cell(n)).join(' | ')} |`;
    const text = [row((n) => `Name ${n}`), row(() => '---'), ...[1, 2].map((r) => row((n) => `value ${r} ${n}`))].join(
      '\n',
    );
    for (let maxSize = 60; maxSize < 700; maxSize += 13) {
      const chunks = await chunk(text, 'markdown', { strategy: 'markdown', maxSize });
      // The rule alone has 122 characters.
      expect(chunks.every((found) => maxSize < 130 || /value|Name/.test(found))).toBe(true);
      expect(maxSize < 400 || chunks[0]!.includes('value')).toBe(true);
    }
  });

  test('is cut between rows, also if a row is most of a chunk', async () => {
    const rows = Array.from({ length: 6 }, (_, n) => `| ${n} | ${words(n % 2 === 0 ? 3 : 25)} |`);
    const text = ['| a | b |', '| --- | --- |', ...rows].join('\n');
    for (const found of await chunk(text, 'markdown', { strategy: 'markdown', maxSize: 200, minSize: 0 }))
      expect(found).toMatch(/^\|[^]*\|$/);
  });
});

describe('overlap', () => {
  test('of an HTML table begins with a row', async () => {
    const rows = Array.from({ length: 20 }, (_, n) => `<tr><td>Row ${n}</td><td>a b c</td><td>d</td></tr>`);
    const chunks = await chunk(`<table>${rows.join('')}</table>`, 'html', { maxSize: 120, overlap: 30, minSize: 0 });
    expect(chunks.length).toBeGreaterThan(2);
    for (const found of chunks) expect(found).toMatch(/^\| Row/);
    expect(chunks.join('\n').split('\n').length).toBeGreaterThan(rows.length);
  });

  test('begins with a row in a script without spaces', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => `|我们今天下午去图书馆学习${n}|计算机程序设计语言|`);
    const text = ['|a|b|', '|---|---|', ...rows].join('\n');
    for (const found of await chunk(text, 'markdown', { maxSize: 110, overlap: 20, minSize: 0 }))
      expect(found).toMatch(/^\|/);
  });

  test('begins with a word in a script without spaces, and with any character where a word is cut', async () => {
    const text = '我们今天下午去图书馆学习计算机程序设计语言和数据结构';
    const starts = new Set(
      Array.from(new Intl.Segmenter('und', { granularity: 'word' }).segment(text), ({ index }) => index),
    );
    const chunks = await MDocument.fromText(text).chunk({ maxSize: 12, overlap: 5 });
    expect(
      chunks.some(({ metadata }, index) => index > 0 && metadata.startIndex < chunks[index - 1]!.metadata.endIndex),
    ).toBe(true);
    for (const { metadata } of chunks) expect(starts).toContain(metadata.startIndex);
    const id = 'abcdefghijklmnopqrstuvwxyz';
    expect(await chunk(id, 'text', { maxSize: 10, overlap: 4 })).toEqual([
      'abcdefghij',
      'ghijklmnop',
      'mnopqrstuv',
      'stuvwxyz',
    ]);
    expect(await chunk('e\u0301'.repeat(8), 'text', { maxSize: 8, overlap: 3 })).toEqual(
      [4, 4, 2].map((letters) => 'e\u0301'.repeat(letters)),
    );
  });
});
