import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, test } from 'vitest';
import { createChunker } from './chunking-strategy.js';
import { codeLanguages } from './code-languages.js';
import { findViolation } from './find-violation.fixture.js';

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
    'Dr. No met e.g. him. it ends! ',
    'Ja? Nein. „Gut.“ ',
    '<|endoftext|>',
    '\\section{A {b} c}\n',
    '\\subsection*[s]{D}',
    '\\begin{a}',
    '\\end{a}',
    '\\begin{verbatim}',
    '% \\section{no}\n',
    '\nfunction f() {\n  return 1;\n}\n\n',
    '    def g(self):\n',
    'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
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

const separators = fc.record(
  {
    separators: fc.uniqueArray(fc.constantFrom('\n\n', '\n', ' ', '', '.', 'e', '##'), { minLength: 1 }),
    separatorPosition: fc.constantFrom('start', 'end'),
  },
  { requiredKeys: [] },
);
const patterns = fc.record({
  separators: fc.uniqueArray(fc.constantFrom('\\s+', '(?=#)', '^', '\\b', '[.!?]', '$', ''), { minLength: 1 }),
  separatorPosition: fc.constantFrom('start', 'end'),
  isSeparatorRegex: fc.constant(true),
});
const oddMeasure = (text: string): number =>
  text.length + (text.startsWith(' ') ? 0 : 1.5) - (text.length % 3 === 0 ? 1 : 0);
const countOptions = { disallowedSpecial: new Set<string>() };
const tokens = (text: string): number => countTokens(text, countOptions);
const units = (text: string): number => text.length;
const none = fc.constant({});

const cases: {
  name: string;
  strategy: string;
  own: fc.Arbitrary<Record<string, unknown>>;
  measure?: (text: string) => number;
  runs?: number;
}[] = [
  { name: 'recursive', strategy: 'recursive', own: separators },
  { name: 'recursive with patterns', strategy: 'recursive', own: patterns, runs: 500 },
  {
    name: 'recursive by language',
    strategy: 'recursive',
    own: fc.record({ language: fc.constantFrom(...codeLanguages) }),
  },
  {
    name: 'recursive with an odd measure',
    strategy: 'recursive',
    own: fc.constant({ lengthFunction: oddMeasure }),
    measure: oddMeasure,
  },
  { name: 'character', strategy: 'character', own: separators },
  { name: 'sentence', strategy: 'sentence', own: none },
  { name: 'sentence with enders', strategy: 'sentence', own: fc.constant({ sentenceEnders: ['. ', '。', '!'] }) },
  {
    name: 'sentence with sizes',
    strategy: 'sentence',
    own: fc.record({ targetSize: fc.constant(1), fallbackToWords: fc.boolean() }),
  },
  { name: 'token', strategy: 'token', own: none, measure: tokens, runs: 400 },
  { name: 'markdown', strategy: 'markdown', own: none },
  { name: 'markdown by lines', strategy: 'markdown', own: fc.constant({ returnEachLine: true }) },
  {
    name: 'markdown with headers',
    strategy: 'markdown',
    own: fc.constant({
      headers: [
        ['#', 'a'],
        ['##', 'b'],
      ],
      stripHeaders: false,
    }),
  },
  {
    name: 'semantic-markdown',
    strategy: 'semantic-markdown',
    own: fc.record({ joinThreshold: fc.integer({ min: 0, max: 60 }) }),
    measure: tokens,
    runs: 300,
  },
  { name: 'latex', strategy: 'latex', own: none },
];

describe.each(cases)('every chunk of $name', ({ strategy, own, measure = units, runs = 1000 }) => {
  test('keeps to the size and to whole characters, and together they keep the text', async () => {
    await fc.assert(
      fc.asyncProperty(text, sizes, own, async (source, size, options) => {
        const spans = (await createChunker(strategy, { ...size, ...options }))(source);
        expect(findViolation(source, spans, { ...size, measure })).toBeUndefined();
      }),
      { numRuns: runs },
    );
  });
});

describe('options', () => {
  const reject = async (options: Record<string, unknown>, strategy = 'recursive'): Promise<string> => {
    const error: unknown = await createChunker(strategy, options).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'OPTIONS_INVALID' });
    return (error as Error).message;
  };

  test('are rejected if they are unknown, and the known ones named', async () => {
    expect(await reject({ maxsize: 5, foo: 1 })).toMatch(
      /^The strategy 'recursive' has no option 'maxsize'\. Did you mean 'maxSize'\? Its options are: strategy, maxSize, size, overlap,/,
    );
    expect(await reject({ separators: ['\n'] }, 'markdown')).toMatch(
      /^The strategy 'markdown' has no option 'separators'\./,
    );
    expect(await reject({}, 'toString')).toMatch(/no chunking strategy 'toString'/);
  });

  test('are rejected if their values are invalid', async () => {
    expect(await reject({ maxSize: 100, overlap: 100 })).toMatch(
      /: 'overlap' \(100\) must be less than 'maxSize' \(100\)/,
    );
    for (const maxSize of [0, -1, 1.5, Number.NaN, '100', null, Infinity])
      expect(await reject({ maxSize })).toMatch(
        /^The strategy 'recursive': 'maxSize' must be an integer of at least 1, not /,
      );
    expect(await reject({ size: 0 })).toBe("The strategy 'recursive': 'size' must be an integer of at least 1, not 0.");
    expect(await reject({ overlap: -1 })).toMatch(/'overlap' must be an integer of at least 0, not -1/);
    expect(await reject({ size: 10, maxSize: 20 })).toMatch(/'maxSize' and 'size' are two names of one option/);
    expect(await reject({ maxSize: 100, minSize: 101 })).toMatch(/'minSize' \(101\) must not exceed 'maxSize' \(100\)/);
    expect(await reject({ maxSize: 100, targetSize: 101 }, 'sentence')).toBe(
      "The strategy 'sentence': 'targetSize' (101) must not exceed 'maxSize' (100).",
    );
    expect(await reject({ minSize: 10 }, 'character')).toMatch(/has no option 'minSize'/);
    expect(await reject({ separators: [] })).toMatch(/'separators' must be a string or a list of strings/);
    expect(await reject({ separatorPosition: 'middle' })).toMatch(/'separatorPosition' must be one of 'start', 'end'/);
    expect(await reject({ stripWhitespace: 'no' })).toMatch(/'stripWhitespace' must be true or false, not 'no'/);
    expect(await reject({ headers: '#' }, 'markdown')).toMatch(/'headers' must be a list, not '#'/);
    for (const pair of [['word', 'title'], ['#', '__proto__'], ['#', ''], ['#'], '#'])
      expect(await reject({ headers: [['##', 'part'], pair] }, 'markdown')).toMatch(
        /'headers\[1\]' must be a pair of a mark and a metadata key that Quiver does not write/,
      );
    expect(await reject({ headers: [['h7', 'title']] }, 'html')).toMatch(/'headers\[0\]' must be a pair of a heading/);
    expect(await reject({ sections: [['a b', 'title']] }, 'html')).toMatch(
      /'sections\[0\]' must be a pair of an element/,
    );
    expect(await reject({ sentenceEnders: [''] }, 'sentence')).toMatch(
      /'sentenceEnders' must name what ends a sentence/,
    );
    expect(await reject({ allowedSpecial: [1] }, 'token')).toMatch(/'allowedSpecial' must be 'all', or a list or Set/);
    expect(await reject({ encodingName: 'gpt' }, 'token')).toMatch(/'encodingName' must be one of 'cl100k_base', /);
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
