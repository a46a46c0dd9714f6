import { afterAll, expect, test } from 'vitest';
import type { StrategyName } from './chunking-strategy.js';
import { startStepCounter } from './count-steps.fixture.js';

const counter = startStepCounter((url) => /\/src\/document\/|gpt-tokenizer/.test(url));
const { createChunker } = await import('./chunking-strategy.js');
const { clearMergeCache } = await import('gpt-tokenizer/encoding/cl100k_base');
afterAll(() => counter.stop());

/** Repeated, these lead rules about neighbors through the whole text: initials, marks that are never closed, clusters without an end. */
const fragments = [
  ['A. ', 'z. B. ', 'J. K. ', 'e.g. a. ', '1. ', '3. Mai ', 'a.b', '!', '! ', '。', '." ', '"'],
  ['word ', 'a', 'Ab', 'A', '日本語', 'ไทย', 'नमस्', '\u0301', '🇩🇪', '👩‍👩‍👧‍👦', '’'],
  [' ', '\t', '\n', '\r\n', ' \n', '\u00a0'],
  ['* ', '> ', '- ', '#', '# a\n', 'x\n=\n', '```\n', '| a ', '[a]: b "c\n', '[', '{'],
  ['<div ', '<p>', '</', '&amp;', '<!--', '\\section{', '\\begin{a}', '%', '$$', '// c\n', '\nfunction f() {\n'],
];

const lengthFunction = (text: string): number => text.length;

/** Each strategy, in each form that takes another path through the code. */
const variants: Readonly<Record<StrategyName, readonly Record<string, unknown>[]>> = {
  recursive: [{}, { language: 'ts' }, { separators: ['\\s+', '\\b'], isSeparatorRegex: true }, { lengthFunction }],
  character: [{}, { separators: ['.'] }, { separators: ['.', ' ', '\n'], maxSize: undefined }],
  token: [{ maxSize: 20 }],
  sentence: [{}, { minSize: 100, targetSize: 150 }, { sentenceEnders: ['. ', '。', '!'] }],
  markdown: [{}, { headers: [['#', 'title']] }, { returnEachLine: true }],
  'semantic-markdown': [{ maxSize: 20 }],
  html: [{}, { headers: [['h1', 'title']] }],
  json: [{}, { convertLists: true }],
  latex: [{}],
};

const cases = Object.entries(variants).flatMap(([strategy, options]) =>
  options.map((own) => ({ strategy, options: { maxSize: 400, ...own } })),
);

// Counted steps: CPU time depends on the load and the caches of the machine.
test.each(cases)('$strategy with $options takes about twice the steps for twice the text', async (given) => {
  const { strategy, options } = given;
  const toSource = (text: string): string => (strategy === 'json' ? JSON.stringify([text, text.split(' ')]) : text);
  /** Counts the steps for one text of each fragment. A look at the counts takes longer than the chunks. */
  const stepsOf = async (group: readonly string[], size: number): Promise<number> => {
    // Behind a full stop, closing marks belong to its sentence.
    const sources = group.map((fragment) => toSource(`。${fragment.repeat(Math.ceil(size / fragment.length))}`));
    // Counts of words and pieces of words are cached.
    const chunk = await createChunker(strategy, options);
    clearMergeCache();
    return counter.count(() => sources.map((source) => chunk(source)));
  };
  // Without a size, chunks have 4,000 characters, and shorter texts hardly any cut.
  const length = options.maxSize === undefined ? 20_000 : 6000;
  // The first run compiles patterns.
  await stepsOf(['word '], 100);
  for (const group of fragments) {
    const once = await stepsOf(group, length);
    const twice = await stepsOf(group, 2 * length);
    // Fixed limits, such as the longest title of a heading, matter more in short texts, and counts vary between runs: ratios up to 2.27 were
    // seen. Quadratic time is a ratio of 4, and one text of it outweighs the others.
    expect(twice / once, `${once} steps for ${JSON.stringify(group)}, ${twice} for twice the text`).toBeLessThan(2.6);
  }
});

test.each([
  ['loops', (text: string) => [...text].forEach((_, end) => lastIndexOf(text, 'b', end))],
  ['a method of texts', (text: string) => [...text].forEach((_, end) => text.lastIndexOf('b', end))],
  ['a regular expression', (text: string) => [...text].forEach((_, start) => text.slice(start).match(/b/g))],
])('the counter finds quadratic time in %s', (_what, run) => {
  const [once = 0, twice = 0] = [300, 600].map((length) => counter.count(() => run('a'.repeat(length))));
  expect(twice / once).toBeGreaterThan(3.8);
});

function lastIndexOf(text: string, character: string, end: number): number {
  let at = end;
  while (at >= 0 && text[at] !== character) at -= 1;
  return at;
}
