import { describe, expect, test } from 'vitest';
import type { ChunkParams } from './chunking/chunking-strategy.js';
import { MDocument, type MDocumentOptions } from './document.js';

const story = 'Once upon a time. '.repeat(100);

describe('a document', () => {
  test('has chunks of at most 4,000 characters by default', async () => {
    for (const type of ['text', 'markdown', 'html'] as const) {
      const chunks = await new MDocument({ text: 'Some words. '.repeat(1000), type }).chunk();
      const longest = Math.max(...chunks.map(({ text }) => text.length));
      expect(longest).toBeLessThanOrEqual(4000);
      expect(longest).toBeGreaterThan(3900);
    }
  });

  test('gives verbatim chunks with their place and its metadata', async () => {
    const chunks = await MDocument.fromText(story, { source: 'story.txt' }).chunk({ maxSize: 200 });
    expect(chunks.length).toBeGreaterThan(8);
    for (const { text, content, metadata } of chunks) {
      expect(text).toBe(story.slice(metadata.startIndex, metadata.endIndex));
      expect(content).toBe(text);
      expect(metadata['source']).toBe('story.txt');
    }
  });

  test.each<[string, ChunkParams]>([
    ['# One\n\nFirst.\n\n\n# Two\n\nSecond.\n\n## Three\n\nThird.', { strategy: 'markdown', minSize: 0 }],
    [story, { maxSize: 50, overlap: 0 }],
    [story, { maxSize: 100, overlap: 20 }],
  ])(
    'links each chunk to the one before it, so that the text can be put together again (%#)',
    async (text, options) => {
      const chunks = await MDocument.fromMarkdown(text).chunk(options);
      let joined = '';
      for (const [index, { text: part, metadata, previous }] of chunks.entries()) {
        expect(previous?.id).toBe(chunks[index - 1]?.id);
        joined += previous?.textBetween ?? '';
        joined += part.slice(Math.max(0, joined.length - metadata.startIndex));
      }
      expect(chunks.length).toBeGreaterThan(2);
      expect(joined).toBe(text.trimEnd());
    },
  );

  test('does not link chunks of different texts, or with a long text between them', async () => {
    const docs = [{ text: 'One.' }, { text: `Two.${' '.repeat(2000)}Three.` }];
    const chunks = await new MDocument({ docs }).chunk({ maxSize: 6, overlap: 0 });
    expect(chunks.map(({ text, previous }) => [text, previous])).toEqual([
      ['One.', undefined],
      ['Two.', undefined],
      ['Three.', undefined],
    ]);
  });

  test('is not changed by chunking, and gives the same chunks twice', async () => {
    const document = MDocument.fromText(story);
    const first = await document.chunk({ maxSize: 100 });
    await document.chunk({ maxSize: 30 });
    expect(await document.chunk({ maxSize: 100 })).toEqual(first);
  });

  test('shows its texts, then its last chunks', async () => {
    const document = new MDocument({ docs: [{ text: 'a', metadata: { n: 1 } }, { text: 'b' }], type: 'text' });
    expect(document.getDocs()).toEqual([
      { text: 'a', metadata: { n: 1 } },
      { text: 'b', metadata: {} },
    ]);
    const chunks = await document.chunk();
    expect(document.getDocs()).toEqual(chunks);
    expect(document.getText()).toEqual(['a', 'b']);
    expect(document.getMetadata()).toEqual([
      { n: 1, startIndex: 0, endIndex: 1 },
      { startIndex: 0, endIndex: 1 },
    ]);
  });

  test('takes the spellings of the older chunker tool', async () => {
    const document = new MDocument({ text: story, metadata: { source: 'user-manual' } });
    const chunks = await document.chunk({ strategy: 'recursive', size: 512, overlap: 50, separator: '\n' });
    expect(chunks.every(({ content }) => content.length <= 512)).toBe(true);
  });

  test('is chunked by its type', async () => {
    expect(await MDocument.fromMarkdown('# A\n\na').chunk()).toMatchObject([{ metadata: { headings: ['A'] } }]);
    expect((await MDocument.fromText('# A\n\na').chunk())[0]?.metadata).not.toHaveProperty('headings');
  });

  test('rejects chunk options that are not an object', async () => {
    await expect(MDocument.fromText('a').chunk(null as never)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
      message: 'chunk needs its options, an object, not null.',
    });
  });

  test('has no chunks without text', async () => {
    expect(await MDocument.fromText('').chunk()).toEqual([]);
    expect(await MDocument.fromText(' \n ').chunk()).toEqual([]);
  });

  test('is rejected when its parts have the wrong types', () => {
    for (const options of [
      { text: 5 },
      { text: 'a', metadata: [] },
      { text: 'a', type: 'toString' },
      { docs: 'a' },
      { docs: [null] },
      null,
    ]) {
      expect(() => new MDocument(options as unknown as MDocumentOptions)).toThrow(
        expect.objectContaining({ code: 'OPTIONS_INVALID' }),
      );
    }
  });

  test('is rejected with a text that has an unknown option', () => {
    const docs = [{ text: 'a' }, { text: 'b', metdata: { tenant: 'a' } }];
    expect(() => new MDocument({ docs })).toThrow("A text of docs has no option 'metdata'. Did you mean 'metadata'?");
  });

  test('is rejected with cyclic metadata, not stored in part', async () => {
    const metadata: Record<string, unknown> = {};
    metadata['self'] = metadata;
    await expect(MDocument.fromText('a', metadata).chunk()).rejects.toMatchObject({ code: 'METADATA_INVALID' });
  });
});

describe('the id of a chunk', () => {
  const ids = async (text: string, metadata = {}): Promise<string[]> =>
    (await MDocument.fromMarkdown(text, metadata).chunk()).map(({ id }) => id);

  test('stays when the text around it changes', async () => {
    const before = await ids('# A\n\none\n\n# B\n\ntwo');
    const after = await ids('# A\n\nchanged\n\n# B\n\ntwo');
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
  });

  test('differs between documents, and does not depend on the order of their metadata', async () => {
    const text = 'same text';
    expect(await ids(text, { source: 'a', page: 1 })).toEqual(await ids(text, { page: 1, source: 'a' }));
    expect(await ids(text, { source: 'a' })).not.toEqual(await ids(text, { source: 'b' }));
  });

  test('is unique where a text is repeated', async () => {
    expect(new Set(await ids('# A\n\nsame\n'.repeat(50))).size).toBe(50);
  });
});
