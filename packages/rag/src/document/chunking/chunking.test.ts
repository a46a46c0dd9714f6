import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createChunker } from './chunking-strategy.js';

/** Pieces that make cuts hard: clusters of several code units, lone surrogates, line ends, Markdown marks. */
const fragment = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '👩‍👩‍👧‍👦',
    '🇩🇪🇫🇷🇯🇵',
    '👍🏽',
    'é',
    'ạ̈',
    '\ud83d',
    '\udc4d',
    '\r\n',
    '\n\n',
    '\r\n\r\n',
    ' ',
    '   ',
    '\t',
    '日本語の文章。',
    '한국어',
    'हिन्दी क्षेत्र',
    'ไทย',
    '\u200d',
    '\u0301',
    'word ',
    'a longer sentence. ',
    '# ',
    '## Title\n',
    '```\n',
    '- item\n',
    '> ',
    'x\n===\n',
    '\ufeff',
    '\u0600',
  ),
);
const text = fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join(''));

const sizes = fc.integer({ min: 1, max: 60 }).chain((maxSize) =>
  fc.record({
    maxSize: fc.constant(maxSize),
    overlap: fc.integer({ min: 0, max: maxSize - 1 }),
    stripWhitespace: fc.boolean(),
  }),
);

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

function boundariesOf(source: string): Set<number> {
  return new Set([...Array.from(segmenter.segment(source), ({ index }) => index), source.length]);
}

const separators = fc.record(
  {
    separators: fc.uniqueArray(fc.constantFrom('\n\n', '\n', ' ', '', '.', 'e', '##'), { minLength: 1 }),
    separatorPosition: fc.constantFrom('start', 'end'),
  },
  { requiredKeys: [] },
);

const cases = [
  { strategy: 'recursive', own: separators },
  { strategy: 'markdown', own: fc.constant({}) },
];

describe.each(cases)('every chunk of the $strategy strategy', ({ strategy, own }) => {
  test('keeps to the size and to whole characters, and together they keep the text', async () => {
    await fc.assert(
      fc.asyncProperty(text, sizes, own, async (source, size, options) => {
        const spans = (await createChunker(strategy, { ...size, ...options }))(source);
        const boundaries = boundariesOf(source);
        let covered = 0;
        for (const { start, end } of spans) {
          expect(end).toBeGreaterThan(start);
          expect(boundaries).toContain(start);
          expect(boundaries).toContain(end);
          const isOneCluster = [...segmenter.segment(source.slice(start, end))].length === 1;
          expect(end - start <= size.maxSize || isOneCluster).toBe(true);
          expect(covered - start).toBeLessThanOrEqual(size.overlap);
          expect(end, 'adds something new').toBeGreaterThan(covered);
          const between = source.slice(covered, start);
          expect(size.stripWhitespace ? between.trim() : between).toBe('');
          covered = end;
        }
        const rest = source.slice(covered);
        expect(size.stripWhitespace ? rest.trim() : rest).toBe('');
      }),
      { numRuns: 1500 },
    );
  });

  test('takes time in proportion to the text, whatever it is made of', async () => {
    const chunk = await createChunker(strategy, { maxSize: 1000 });
    for (const unit of [
      '* ',
      '> ',
      '- ',
      '🇩🇪',
      'नमस्',
      '́',
      '[a]: b "c\n',
      '```\n',
      'x\n=\n',
      '\n',
      ' ',
      '<div ',
      '1. ',
      '\t',
      '#',
    ]) {
      const startedAt = performance.now();
      chunk(unit.repeat(Math.ceil(200_000 / unit.length)));
      expect(performance.now() - startedAt, `200,000 units of ${JSON.stringify(unit)}`).toBeLessThan(1500);
    }
  });
});

describe('options', () => {
  const reject = async (options: Record<string, unknown>, strategy = 'recursive'): Promise<string> => {
    const error: unknown = await createChunker(strategy, options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CHUNK_OPTIONS_INVALID' });
    return (error as Error).message;
  };

  test('that nobody knows are refused, and the known ones named', async () => {
    expect(await reject({ maxsize: 5, foo: 1 })).toMatch(
      /^Invalid parameters for recursive strategy: 'maxsize, foo' not supported\. Known: strategy, maxSize,/,
    );
    expect(await reject({ separators: ['\n'] }, 'markdown')).toMatch(/markdown strategy: 'separators' not supported/);
    expect(await reject({}, 'toString')).toMatch(/no chunking strategy 'toString'/);
  });

  test('that make no sense are refused', async () => {
    expect(await reject({ maxSize: 100, overlap: 100 })).toMatch(/overlap \(100\) must be less than maxSize \(100\)/);
    for (const maxSize of [0, -1, 1.5, Number.NaN, '100', Infinity])
      expect(await reject({ maxSize })).toMatch(/maxSize must be/);
    expect(await reject({ overlap: -1 })).toMatch(/overlap must be/);
    expect(await reject({ size: 10, maxSize: 20 })).toMatch(/two spellings/);
    expect(await reject({ separators: [] })).toMatch(/separators must be/);
    expect(await reject({ separatorPosition: 'middle' })).toMatch(/separatorPosition must be/);
    expect(await reject({ stripWhitespace: 'no' })).toMatch(/stripWhitespace must be/);
  });

  test('have two spellings', async () => {
    const source = 'one, two, three, four, five';
    const spans = (options: Record<string, unknown>): Promise<unknown> =>
      createChunker('recursive', options).then((chunk) => chunk(source));
    expect(await spans({ size: 10, separator: ', ', keepSeparator: true, overlap: 0 })).toEqual(
      await spans({ maxSize: 10, separators: [', '], separatorPosition: 'start', overlap: 0 }),
    );
  });

  test('leave an overlap that fits when only a small size is given', async () => {
    const chunk = await createChunker('recursive', { maxSize: 8 });
    const source = 'aa bb cc dd ee ff gg hh';
    expect(chunk(source).map(({ start, end }) => source.slice(start, end))).toEqual([
      'aa bb cc',
      'cc dd ee',
      'ee ff gg',
      'gg hh',
    ]);
  });
});
