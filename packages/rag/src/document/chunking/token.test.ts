import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { MDocument } from '../document.js';

const text = 'Tokens of emoji 👩‍👩‍👧‍👦 and 日本語の文章 are never cut apart. '.repeat(30);

describe('token chunks', () => {
  test('hold whole characters, fill the limit, and carry the exact count of their tokens', async () => {
    const chunks = await MDocument.fromText(text).chunk({ strategy: 'token', maxSize: 64, overlap: 8 });
    for (const { text: piece, metadata } of chunks) {
      expect(metadata['tokenCount']).toBe(countTokens(piece));
      expect(metadata['tokenCount']).toBeLessThanOrEqual(64);
      expect(piece).not.toMatch(/\ufffd|^[\udc00-\udfff]|[\ud800-\udbff]$/u);
      expect(piece).toBe(text.slice(metadata.startIndex, metadata.endIndex));
    }
    expect(chunks.length).toBeLessThan((countTokens(text) / (64 - 8)) * 1.4);
  });

  test('are counted in the encoding that is named, or that of a model', async () => {
    const counts = async (options: object): Promise<unknown[]> =>
      (await MDocument.fromText(text).chunk({ strategy: 'token', maxSize: 5000, ...options })).map(
        ({ metadata }) => metadata['tokenCount'],
      );
    expect(await counts({ encodingName: 'o200k_base' })).toEqual([countO200k(text.trim())]);
    expect(await counts({ modelName: 'gpt-4o' })).toEqual([countO200k(text.trim())]);
    expect(await counts({})).toEqual([countTokens(text.trim())]);
    await expect(counts({ modelName: 'toString' })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(counts({ encodingName: 'x' })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(counts({ lengthFunction: () => 1 })).rejects.toThrow(/has no option 'lengthFunction'/);
  });

  test('take special marks for text, for one token, or for an error, as they are told', async () => {
    const count = async (options: object): Promise<unknown> =>
      (await MDocument.fromText('hi <|endoftext|> there').chunk({ strategy: 'token', ...options }))[0]?.metadata[
        'tokenCount'
      ];
    const plain = (await count({})) as number;
    expect(plain).toBe(countTokens('hi <|endoftext|> there', { disallowedSpecial: new Set() }));
    for (const allowedSpecial of [['<|endoftext|>'], new Set(['<|endoftext|>']), 'all'])
      expect(await count({ allowedSpecial })).toBe(countTokens('hi ') + 1 + countTokens(' there'));
    expect(await count({ allowedSpecial: new Set() })).toBe(plain);
    for (const allowedSpecial of [new Set([1]), {}, 5])
      await expect(count({ allowedSpecial })).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    await expect(count({ disallowedSpecial: 'all' })).rejects.toMatchObject({
      code: 'TOKEN_NOT_ALLOWED',
      details: { index: 3 },
    });
    expect(await count({ allowedSpecial: 'all', disallowedSpecial: 'all' })).toBe(4);
  });
});

describe('a length function', () => {
  test('measures sizes and overlap', async () => {
    const lengthFunction = (piece: string): number => piece.split(/\s+/).filter(Boolean).length;
    const words = Array.from({ length: 100 }, (_, index) => `w${index}`).join(' ');
    const chunks = await MDocument.fromText(words).chunk({ maxSize: 10, overlap: 2, lengthFunction });
    expect(chunks.slice(0, -1).map((piece) => lengthFunction(piece.text))).toEqual(chunks.slice(0, -1).map(() => 10));
    expect(chunks[1]?.text).toMatch(/^w8 w9 /);
  });

  test('that gives no number is an error', async () => {
    for (const lengthFunction of [() => Number.NaN, () => -1, async () => 1]) {
      const options = { strategy: 'recursive', lengthFunction: lengthFunction as () => number } as const;
      await expect(MDocument.fromText('abc').chunk(options)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    }
    const options = { strategy: 'recursive', lengthFunction: 5 } as unknown as { strategy: 'recursive' };
    await expect(MDocument.fromText('abc').chunk(options)).rejects.toThrow(/'lengthFunction' must be a function/);
  });
});
