import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createChunker } from './chunking-strategy.js';
import type { Span } from './pack-spans.js';

/** A part of a generated document. Each has a letter and a separate number, so that its place in the text is known. */
type Part = { kind: 'heading' | 'paragraph' | 'term' | 'list' | 'fence' | 'table' | 'note'; text: string };

const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n % 7}`).join(' ');

const part: fc.Arbitrary<(id: number) => Part> = fc
  .record({
    kind: fc.constantFrom<Part['kind'][]>(
      'heading',
      'paragraph',
      'paragraph',
      'term',
      'list',
      'fence',
      'table',
      'note',
    ),
    size: fc.integer({ min: 1, max: 60 }),
    level: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ kind, size, level }) => (id) => {
    const lines = (line: (n: number) => string): string =>
      Array.from({ length: 1 + (size % 20) }, (_, n) => line(n)).join('\n');
    const text = {
      heading: `${'#'.repeat(level)} Title ${id}`,
      paragraph: `Begin ${id} ${words(size)}.`,
      term: `--option-${id}\n\nSets ${id} ${words(size)}.`,
      list: `Lead ${id}:\n\n${lines((n) => `- item ${n}`)}`,
      fence: `\`\`\`js\n${lines((n) => `call(${id}, ${n});`)}\n\`\`\``,
      table: `| Name ${id} | Value ${id} |\n| --- | --- |\n${lines((n) => `| name ${n} | value ${n} ${words(size % 5)} |`)}`,
      note: `Note: Remark ${id} ${words(size % 20)}.`,
    };
    return { kind, text: text[kind] };
  });

const parts = fc.array(part, { minLength: 1, maxLength: 14 }).map((list) => list.map((make, id) => make(id)));

const sizes = fc.integer({ min: 120, max: 900 }).chain((maxSize) =>
  fc.record({
    maxSize: fc.constant(maxSize),
    overlap: fc.integer({ min: 0, max: Math.floor(maxSize / 3) }),
    minSize: fc.integer({ min: 0, max: Math.floor(maxSize / 3) }),
    stripWhitespace: fc.constant(true),
  }),
);

type Sizes = { maxSize: number; overlap: number; minSize: number; stripWhitespace: boolean };

type Rule = (source: string, spans: readonly Span[], sizes: Sizes, list: readonly Part[]) => void;

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
const isHeading = (line: string): boolean => /^#+ Title \d+$/.test(line);

const rules: Record<string, Rule> = {
  'is a heading only in a document of headings, and ends with one only at the end': (source, spans, _, list) => {
    const hasText = list.some(({ kind }) => kind !== 'heading');
    for (const { start, end } of spans) {
      const lines = linesOf(source.slice(start, end));
      const isLast = end === source.trimEnd().length;
      expect(hasText && lines.every(isHeading)).toBe(false);
      expect(!isLast && isHeading(lines.at(-1)!)).toBe(false);
    }
  },

  'ends with neither a term, nor a lead-in, nor the header of a table': (source, spans) => {
    for (const { start, end } of spans)
      expect(linesOf(source.slice(start, end)).at(-1)).not.toMatch(
        /^--option-\d+$|^Lead \d+:$|^\| Name |^\| -|^```js$/,
      );
  },

  'does not begin with the rule below the header of a table': (source, spans) => {
    for (const { start } of spans) expect(source.slice(start)).not.toMatch(/^\| ---/);
  },

  'is below minSize only where its section is': (_, spans, { minSize }) => {
    for (const [index, { start, end, headings }] of spans.entries()) {
      const isAlone = [spans[index - 1], spans[index + 1]].every(
        (other) => JSON.stringify(other?.headings ?? []) !== JSON.stringify(headings ?? []) || !other,
      );
      expect(isAlone || end - start >= minSize).toBe(true);
    }
  },

  'begins by overlap neither in a word, nor in a row, nor in a fence': (source, spans) => {
    for (const [index, { start }] of spans.entries()) {
      if (index === 0 || start >= spans[index - 1]!.end) continue;
      expect(source[start - 1]).toMatch(/\s/);
      const line = source.slice(source.lastIndexOf('\n', start - 1) + 1, start);
      expect(line).not.toContain('|');
      const fences = source.slice(0, start).match(/^```/gm) ?? [];
      expect(fences.length % 2).toBe(0);
    }
  },
};

test('every chunk of Markdown keeps the rules', async () => {
  await fc.assert(
    fc.asyncProperty(parts, sizes, async (list, size) => {
      const source = list.map(({ text }) => text).join('\n\n');
      const spans = (await createChunker('markdown', { ...size }))(source);
      for (const [name, rule] of Object.entries(rules))
        expect(() => rule(source, spans, size, list), `A chunk of Markdown ${name}`).not.toThrow();
    }),
    { numRuns: 2000 },
  );
});
