import { array, assert, asyncProperty, constantFrom, nat } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ingest } from '../ingest/ingest.js';
import { createLexicalEmbedder } from '../embedding/index.js';
import { LocalVector } from '../stores/local/index.js';
import type { ChunkParams } from './chunking/chunking-strategy.js';
import { MDocument, type MDocumentOptions } from './document.js';
import type { SkippedText } from './skipped-text.js';

const menu = '- [Home](/)\n- [Guides](/guides)\n\n# Menu';
const page = `${menu}\n\n## Install\n\nRun npm install.\n\nSubscribe to our newsletter!\n\nThen restart.`;
const partOf = (text: string, part: string, kind: string): SkippedText => {
  const start = text.indexOf(part);
  return { start, end: start + part.length, kind };
};
const skip = [partOf(page, menu, 'navigation'), partOf(page, 'Subscribe to our newsletter!', 'notice')];

describe('text that is not searched', () => {
  it('is in no chunk, gives no headings, and stays in the text', async () => {
    const document = new MDocument({ text: page, type: 'markdown', skip });
    const chunks = await document.chunk();
    expect(chunks.map(({ text, metadata }) => [text, metadata.headings])).toEqual([
      ['## Install\n\nRun npm install.', ['Install']],
      ['Then restart.', ['Install']],
    ]);
    for (const { text, metadata } of chunks) expect(page.slice(metadata.startIndex, metadata.endIndex)).toBe(text);
    expect(chunks.map(({ previous }) => previous)).toEqual([undefined, undefined]);
    expect(document.getText()).not.toContain(menu);
    expect(document.sources[0]?.text).toBe(page);
    expect(document.skippedText).toEqual({ navigation: menu.length, notice: 28 });
  });

  it.each<[string, unknown]>([
    ['a part outside the text', [{ start: 0, end: page.length + 1, kind: 'index' }]],
    [
      'parts that overlap',
      [
        { start: 0, end: 5, kind: 'index' },
        { start: 4, end: 6, kind: 'index' },
      ],
    ],
    ['an empty part', [{ start: 4, end: 4, kind: 'index' }]],
    ['a part without a kind', [{ start: 4, end: 5 }]],
    ['no list', 'navigation'],
  ])('rejects %s', (_what, parts) => {
    expect(() => new MDocument({ text: page, skip: parts as SkippedText[] })).toThrow(/skip must be a list/);
  });

  it('is not for texts that are decoded', () => {
    const options: MDocumentOptions = { text: '<p>One</p>', type: 'html', skip: [{ start: 0, end: 3, kind: 'index' }] };
    expect(() => new MDocument(options)).toThrow(/not for the type 'html'/);
  });

  it('is counted by ingest, also when the document is unchanged', async () => {
    const index = { vectorStore: new LocalVector(), indexName: 'pages', model: createLexicalEmbedder() };
    const documents = ['a', 'b'].map(
      (source) => new MDocument({ docs: [{ text: page, metadata: { source }, skip }], type: 'markdown' }),
    );
    const skippedText = { navigation: 2 * menu.length, notice: 2 * 28 };
    expect(await ingest({ ...index, documents })).toMatchObject({ added: 4, skippedText });
    expect(await ingest({ ...index, documents })).toMatchObject({ added: 0, skippedText });
    const plain = [MDocument.fromText('Nothing to skip.', { source: 'c' })];
    expect(await ingest({ ...index, documents: plain })).not.toHaveProperty('skippedText');
  });

  it('leaves out headings right before a part, and no other text', async () => {
    const text = '# Guide\n\n## Install\n\n- Contents\n\nRun it.\n\n## Use\n\nCall it.\n\n- Contents\n\nAgain.';
    const skip = [...text.matchAll(/- Contents/g)].map(({ index }) => ({
      start: index,
      end: index + 10,
      kind: 'contents',
    }));
    const textsOf = async (type: 'markdown' | 'text'): Promise<unknown[]> =>
      (await new MDocument({ text, type, skip }).chunk({ minSize: 0 })).map((chunk) => [
        chunk.text,
        chunk.metadata.headings,
      ]);
    expect(await textsOf('markdown')).toEqual([
      ['Run it.', ['Guide', 'Install']],
      ['## Use\n\nCall it.', ['Guide', 'Use']],
      ['Again.', ['Guide', 'Use']],
    ]);
    // In plain text, these lines are not headings.
    expect((await textsOf('text'))[0]).toEqual(['# Guide\n\n## Install', undefined]);
  });

  it('leaves out a heading before a part that is longer than a chunk', async () => {
    const menu = '- Entry\n'.repeat(100);
    const text = `# Site\n\n${menu}\n\n# Page\n\nThe text of the page.`;
    const document = new MDocument({ text, type: 'markdown', skip: [partOf(text, menu.trim(), 'navigation')] });
    for (const maxSize of [100, 4000])
      expect((await document.chunk({ maxSize })).map((chunk) => chunk.text)).toEqual([
        '# Page\n\nThe text of the page.',
      ]);
  });

  it('keeps chunks verbatim, in order and apart from every part, with every strategy', async () => {
    const word = constantFrom(
      'alpha ',
      'beta. ',
      '\n\n',
      '# Title\n\n',
      '- item\n',
      '| a | b |\n|---|---|\n| 1 | 2 |\n',
      '```\n',
      '😀 ',
    );
    const text = array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(''));
    const cuts = array(nat(200), { maxLength: 6 });
    const strategies: ChunkParams[] = (
      ['recursive', 'character', 'sentence', 'markdown', 'semantic-markdown', 'latex', 'token'] as const
    ).map((strategy) => ({ strategy, maxSize: 40, overlap: 8 }) as ChunkParams);
    await assert(
      asyncProperty(text, cuts, constantFrom(...strategies), async (given, places, params) => {
        const ends = [...new Set(places.map((place) => Math.min(place, given.length)))].toSorted((a, b) => a - b);
        const parts: SkippedText[] = [];
        for (let at = 0; at + 1 < ends.length; at += 2)
          parts.push({ start: ends[at]!, end: ends[at + 1]!, kind: 'index' });
        const chunks = await new MDocument({ text: given, type: 'markdown', skip: parts }).chunk(params);
        let last = -1;
        for (const { text: chunk, metadata } of chunks) {
          const { startIndex, endIndex } = metadata;
          expect(given.slice(startIndex, endIndex)).toBe(chunk);
          expect(startIndex).toBeGreaterThanOrEqual(last);
          last = startIndex;
          for (const { start, end } of parts) expect(endIndex <= start || startIndex >= end).toBe(true);
        }
      }),
    );
  });
});
