import { describe, expect, test } from 'vitest';
import { MDocument, type DocumentType } from '../document.js';
import type { ChunkParams } from './chunking-strategy.js';

async function chunk(text: string, type: DocumentType, params: ChunkParams): Promise<string[]> {
  return (await new MDocument({ text, type }).chunk(params)).map((found) => found.text);
}

const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');

describe('a part of the text that fits into a chunk is not cut', () => {
  test('a fence inside a list item', async () => {
    const fence = '  ```js\n  const a = 1;\n\n  const b = 2;\n  ```';
    const text = `- ${words(12)}\n\n${fence}\n\n  ${words(12)}\n- Next.`;
    const chunks = await chunk(text, 'markdown', { strategy: 'markdown', maxSize: 120, overlap: 0 });
    expect(chunks.filter((found) => found.includes('```'))).toEqual([expect.stringContaining(fence.trim())]);
  });

  test('an item of an inner list', async () => {
    const items = Array.from({ length: 4 }, (_, n) => `  - ${n} ${words(5)}\n    ${words(4)}`);
    const text = `- ${words(4)}\n${items.join('\n')}`;
    const chunks = await chunk(text, 'markdown', { strategy: 'markdown', maxSize: 110, overlap: 0 });
    for (const item of items) expect(chunks.some((found) => found.includes(item.trim()))).toBe(true);
  });

  test('a LaTeX environment inside another', async () => {
    const inner = '\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}';
    const outer = `\\begin{theorem}\n${words(14)}\n${inner}\n${words(14)}\n\\end{theorem}`;
    const chunks = await chunk(outer, 'text', { strategy: 'latex', maxSize: 120, overlap: 0 });
    expect(chunks.filter((found) => found.includes('align'))).toEqual([expect.stringContaining(inner)]);
  });

  test('a row of an HTML table, also with paragraphs in its cells', async () => {
    const row = (n: number): string => `<tr><td>Name ${n}</td><td><p>First ${n}.</p><p>Last ${n}.</p></td></tr>`;
    const rows = Array.from({ length: 6 }, (_, n) => row(n));
    const chunks = await chunk(`<table>${rows.join('')}</table>`, 'html', {
      strategy: 'html',
      maxSize: 100,
      overlap: 0,
    });
    expect(chunks.length).toBeGreaterThan(2);
    for (const text of chunks) expect(text).toMatch(/^\| Name \d[^]*Last \d\. \|$/);
  });
});

describe('a chunk of a script without spaces', () => {
  test('ends behind a full stop', async () => {
    const text = '吾輩は猫である。名前はまだ無い。「どこで生れたか。」とんと見当がつかぬ。';
    expect(await chunk(text, 'text', { strategy: 'recursive', maxSize: 18, overlap: 0 })).toEqual([
      '吾輩は猫である。名前はまだ無い。',
      '「どこで生れたか。」',
      'とんと見当がつかぬ。',
    ]);
  });

  test.each([
    ['Japanese', '私はプログラミング言語を勉強していますので毎日図書館に行きます'],
    ['Chinese', '我们今天下午去图书馆学习计算机程序设计语言和数据结构'],
    ['Thai', 'ฉันกำลังเรียนภาษาโปรแกรมที่ห้องสมุดทุกวันตอนบ่าย'],
  ])('is cut between words in %s', async (_language, text) => {
    const segments = new Intl.Segmenter('und', { granularity: 'word' }).segment(text);
    const boundaries = new Set(Array.from(segments, ({ index }) => index));
    for (const strategy of ['recursive', 'character', 'sentence'] as const) {
      const chunks = await MDocument.fromText(text).chunk({ strategy, maxSize: 12, overlap: 0 });
      expect(chunks.length).toBeGreaterThan(1);
      for (const { metadata } of chunks) expect(boundaries).toContain(metadata.startIndex);
      expect(chunks.map((found) => found.text).join('')).toBe(text);
    }
  });

  test('is cut at an earlier word where the last word starts inside a character', async () => {
    // The segmenter starts a word at the vowel, which belongs to the mark before it.
    const chunks = await MDocument.fromText('ฟ๏ำฝ').chunk({ strategy: 'recursive', maxSize: 3, overlap: 0 });
    expect(chunks.map(({ text }) => text)).toEqual(['ฟ', '๏ำฝ']);
  });
});

test('a chunk with overlap does not begin with white space', async () => {
  const text = `${'x'.repeat(30)}  ${'y'.repeat(30)} \n ${'z'.repeat(30)}`.repeat(20);
  for (const strategy of ['recursive', 'character', 'markdown', 'sentence'] as const) {
    for (let overlap = 1; overlap < 40; overlap += 3) {
      for (const found of await chunk(text, 'text', { strategy, maxSize: 50, overlap }))
        expect(found).toBe(found.trim());
    }
  }
});

describe('separatorPosition', () => {
  test.each(['recursive', 'character', 'sentence', 'token', 'markdown', 'latex'] as const)(
    'decides in %s where white space goes that is not removed',
    async (strategy) => {
      const text = 'aaaa bbbb cccc dddd eeee ffff gggg hhhh';
      const sizes = { maxSize: strategy === 'token' ? 5 : 12, overlap: 0, stripWhitespace: false };
      const cut = async (separatorPosition: 'start' | 'end'): Promise<string[]> =>
        chunk(text, 'text', {
          strategy,
          ...sizes,
          separatorPosition,
          ...(strategy === 'character' && { separator: ' ' }),
        } as ChunkParams);
      const [start, end] = [await cut('start'), await cut('end')];
      expect(start.length).toBeGreaterThan(1);
      expect(start.slice(1).every((found) => found.startsWith(' '))).toBe(true);
      expect(end.slice(0, -1).every((found) => found.endsWith(' '))).toBe(true);
      expect([start.join(''), end.join('')]).toEqual([text, text]);
    },
  );

  test.each(['html', 'json', 'semantic-markdown'] as const)('is an option of %s', async (strategy) => {
    const text = '["a", "b"]';
    const document = strategy === 'json' ? MDocument.fromJSON(text) : MDocument.fromText(text);
    await expect(document.chunk({ strategy, separatorPosition: 'start' })).resolves.toHaveLength(1);
  });
});

test('other marks begin headings of Markdown', async () => {
  const text = '# One\n\nText.\n\n!!! Two\n\nMore.\n\n!!!not\n\n???? Three\n\nEnd.\n\n!!! Four\n\nLast.';
  const headers = [
    ['#', 'title'],
    ['!!!', 'part'],
    ['????', 'detail'],
  ] as const;
  const chunks = await MDocument.fromMarkdown(text).chunk({ strategy: 'markdown', headers });
  expect(
    chunks.map((found) => [found.text, found.metadata['title'], found.metadata['part'], found.metadata['detail']]),
  ).toEqual([
    ['Text.', 'One', undefined, undefined],
    ['More.\n\n!!!not', 'One', 'Two', undefined],
    ['End.', 'One', 'Two', 'Three'],
    ['Last.', 'One', 'Four', undefined],
  ]);
  for (const mark of ['', 'x', '# #']) {
    await expect(
      MDocument.fromMarkdown(text).chunk({ strategy: 'markdown', headers: [[mark, 'key']] }),
    ).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
  }
});
