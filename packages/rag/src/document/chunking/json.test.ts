import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MDocument } from '../document.js';
import { createChunker } from './chunking-strategy.js';

async function chunk(text: string, options = {}): Promise<Record<string, unknown>[]> {
  const chunks = await MDocument.fromJSON(text).chunk({ strategy: 'json', ...options });
  return chunks.map(({ text: content, metadata: { startIndex, endIndex, ...rest } }) => ({
    text: content,
    source: text.slice(startIndex, endIndex),
    ...rest,
  }));
}

describe('json chunks', () => {
  test('are neighboring members that fit together, with their pointers and their source', async () => {
    const text =
      '{ "name": "Jos\\u00e9", "age": 3,\n "tags": ["a", "b", "c", "d", "e"], "x/y": { "~": 12345678901234567890 } }';
    expect(await chunk(text, { maxSize: 26 })).toEqual([
      {
        text: '{"name":"José","age":3}',
        source: '"name": "Jos\\u00e9", "age": 3',
        pointer: '/name',
        lastPointer: '/age',
      },
      { text: '["a","b","c","d","e"]', source: '["a", "b", "c", "d", "e"]', pointer: '/tags' },
      { text: '{"~":12345678901234567890}', source: '{ "~": 12345678901234567890 }', pointer: '/x~1y' },
    ]);
  });

  test('of a list are its elements, in lists of those that fit together', async () => {
    const text = JSON.stringify([{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect((await chunk(text, { maxSize: 17 })).map((piece) => piece['text'])).toEqual([
      '[{"a":1},{"a":2}]',
      '{"a":3}',
    ]);
    expect((await chunk(text, { maxSize: 17 }))[0]).toMatchObject({ pointer: '/0', lastPointer: '/1' });
    expect(await chunk(text, { maxSize: 25 })).toHaveLength(1);
    expect(
      (await chunk(JSON.stringify([1, 2, 3, 4]), { maxSize: 8, convertLists: true })).map((piece) => piece['text']),
    ).toEqual(['{"0":1}', '{"1":2}', '{"2":3}', '{"3":4}']);
  });

  test('split a string that is too long like prose', async () => {
    const text = '{"note": "A long text\\nwith two lines"}';
    expect(await chunk(text, { maxSize: 15 })).toEqual([
      { text: 'A long text', source: 'A long text', pointer: '/note' },
      { text: 'with two lines', source: 'with two lines', pointer: '/note' },
    ]);
  });

  test('can be kept within ASCII', async () => {
    expect(await chunk('["é","👍"]', { ensureAscii: true })).toMatchObject([{ text: '["\\u00e9","\\ud83d\\udc4d"]' }]);
  });

  test('are not made of invalid JSON: the error has the position', async () => {
    const reject = async (text: string): Promise<string> => {
      const error: unknown = await chunk(text).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'JSON_INVALID' });
      return (error as Error).message;
    };
    expect(await reject('{"a": 1,}')).toMatch(/at 8, a value was expected, not '}'/);
    for (const text of [
      '{',
      '[1 2]',
      '{"a" 1}',
      '{a:1}',
      '[1]]',
      '"\n"',
      '"\\x"',
      '01',
      '"',
      '{"a":}',
      ']',
      'nul',
      '[,]',
    ]) {
      expect(() => void JSON.parse(text)).toThrow(SyntaxError);
      await reject(text);
    }
    expect(await chunk(' \n')).toEqual([]);
  });

  test('of a text nested ten thousand deep are found; where it is deeper, its pointers would fill the memory', async () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}"deep"${']'.repeat(depth)}`;
    expect((await chunk(nested(10_000), { maxSize: 20 })).at(-1)).toMatchObject({
      text: expect.stringContaining('deep') as string,
    });
    // A value that fits stays whole at any depth.
    expect(await chunk(nested(100_000), { maxSize: 300_000 })).toHaveLength(1);
    await expect(chunk(nested(100_000), { maxSize: 20 })).rejects.toMatchObject({ code: 'JSON_TOO_DEEP' });
  });

  test('are never smaller than needed, so a smallest size changes nothing; it must be one', async () => {
    const document = MDocument.fromJSON('{"a":1,"b":"a long string of its own, that has to be divided","c":2,"d":3}');
    const chunks = await document.chunk({ strategy: 'json', maxSize: 20 });
    expect(chunks.map(({ text }) => text).at(-1)).toBe('{"c":2,"d":3}');
    expect(await document.chunk({ strategy: 'json', maxSize: 20, minSize: 15 })).toEqual(chunks);
    for (const minSize of [21, -1, 0.5])
      await expect(document.chunk({ strategy: 'json', maxSize: 20, minSize })).rejects.toMatchObject({
        code: 'OPTIONS_INVALID',
      });
  });
});

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Writes the values of chunks to their pointers, strings that were split piece by piece. */
function rebuild(target: Map<string, unknown>, pointer: string, value: unknown): void {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) target.set(target.has(pointer) ? `${pointer} again` : pointer, value);
  for (const [key, member] of entries)
    rebuild(target, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, member);
}

test('keeps every value in exactly one chunk, in its place, at any size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.json({ maxDepth: 4, stringUnit: 'grapheme' }),
      fc.boolean(),
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      async (compact, isIndented, maxSize, ensureAscii) => {
        const text = isIndented ? JSON.stringify(JSON.parse(compact), null, 2) : compact;
        const spans = (await createChunker('json', { maxSize, overlap: 0, ensureAscii, stripWhitespace: false }))(text);
        const expected = new Map<string, unknown>();
        rebuild(expected, '', JSON.parse(text));
        const found = new Map<string, unknown>();
        const divided = new Map<string, string>();
        let covered = 0;
        for (const { start, end, text: content = '', metadata } of spans) {
          expect(start).toBeGreaterThanOrEqual(covered);
          covered = end;
          expect(content.length <= maxSize || [...segmenter.segment(content)].length === 1).toBe(true);
          const pointer = metadata?.['pointer'] as string;
          const parent = pointer.slice(0, pointer.lastIndexOf('/'));
          const part = text.slice(start, end);
          if (parent !== pointer && part.startsWith('"') && content.startsWith('{'))
            rebuild(found, parent, JSON.parse(content));
          else if (metadata?.['lastPointer'] !== undefined) {
            const first = Number(pointer.slice(parent.length + 1));
            for (const [index, value] of (JSON.parse(content) as unknown[]).entries())
              rebuild(found, `${parent}/${first + index}`, value);
          } else if (expected.has(pointer) && content.length < JSON.stringify(expected.get(pointer)).length) {
            divided.set(pointer, (divided.get(pointer) ?? '') + content);
          } else rebuild(found, pointer, JSON.parse(content));
        }
        for (const [pointer, content] of divided) {
          const value = expected.get(pointer);
          expect(content).toBe(typeof value === 'string' && value !== '' ? value : JSON.stringify(value));
          found.set(pointer, value);
        }
        expect(new Map([...found].toSorted())).toEqual(new Map([...expected].toSorted()));
      },
    ),
    { numRuns: 1000 },
  );
});

describe('JSON Lines', () => {
  const lines = '{"id": 1, "text": "One"}\r\n\n{"id": 2, "text": "Two"}\n3\n"four"\n';

  test('are a list of their values', async () => {
    const [all] = await MDocument.fromJSON(lines).chunk();
    expect(JSON.parse(all?.text ?? '')).toEqual([{ id: 1, text: 'One' }, { id: 2, text: 'Two' }, 3, 'four']);
    const chunks = await MDocument.fromJSON(lines).chunk({ maxSize: 23 });
    expect(chunks.map(({ text, metadata }) => [metadata['pointer'], text])).toEqual([
      ['/0', '{"id":1,"text":"One"}'],
      ['/1', '{"id":2,"text":"Two"}'],
      ['/2', '[3,"four"]'],
    ]);
    for (const { text, metadata } of chunks.slice(0, 2))
      expect(JSON.parse(lines.slice(metadata.startIndex, metadata.endIndex))).toEqual(JSON.parse(text));
  });

  test('are rejected at the first value that is not JSON', async () => {
    await expect(MDocument.fromJSON('{"a": 1}\n{"b": }\n').chunk()).rejects.toMatchObject({ code: 'JSON_INVALID' });
    await expect(MDocument.fromJSON('{"a": 1} {"b": 2}').chunk()).rejects.toMatchObject({ code: 'JSON_INVALID' });
  });
});
