import { Parser, type Node } from 'commonmark';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMarkdownBlocks } from './markdown-blocks.js';

interface FoundHeading {
  level: number;
  line: number;
}

/** The headings of the document itself according to the reference implementation. */
function referenceHeadings(text: string): FoundHeading[] {
  const found: FoundHeading[] = [];
  for (let node: Node | null = new Parser().parse(text).firstChild; node; node = node.next) {
    if (node.type === 'heading') found.push({ level: node.level, line: node.sourcepos[0][0] });
  }
  return found;
}

function ourHeadings(text: string): FoundHeading[] {
  return readMarkdownBlocks(text).flatMap(({ start, heading }) =>
    heading ? [{ level: heading.level, line: text.slice(0, start).split('\n').length }] : [],
  );
}

const prefixes = [
  '',
  '',
  '',
  '',
  ' ',
  '   ',
  '    ',
  '\t',
  ' \t',
  '> ',
  '>',
  '- ',
  '-',
  '1. ',
  '2) ',
  '*\t',
  '  ',
  '      ',
  '- - ',
  '> - ',
  '-     ',
];
const contents = [
  '',
  '',
  'text',
  'more text',
  '# One',
  '## Two ##',
  '#',
  '#no',
  '####### no',
  '# a #b#',
  '===',
  '---',
  '--',
  '- - -',
  '***',
  '_ _ _',
  '=',
  '```',
  '````',
  '``` js',
  '~~~',
  '~~~~ `x`',
  '``` `x',
  '<div>',
  '</div>',
  '<!-- c',
  '-->',
  '<pre>',
  '</pre>',
  '<b>',
  '<i class="x">',
  '<?php',
  '?>',
  '<!X',
  'a <b>',
  '- item',
  '+',
  '10. ten',
  '1. one',
  '> quote',
  '\\# no',
  '*',
];

/** Each text is made of few kinds of lines, so that what depends on several of them in a row comes up often. */
const document = fc
  .record({
    prefixes: fc.subarray(prefixes, { minLength: 1, maxLength: 4 }),
    contents: fc.subarray(contents, { minLength: 1, maxLength: 4 }),
    lineEnd: fc.constantFrom('\n', '\r\n'),
  })
  .chain((kinds) => {
    const prefix = fc.constantFrom('', ...kinds.prefixes);
    const line = fc.tuple(prefix, prefix, fc.constantFrom('', ...kinds.contents)).map((parts) => parts.join(''));
    return fc.array(line, { maxLength: 10 }).map((lines) => lines.join(kinds.lineEnd));
  })
  .filter((text) => !/^---[ \t]*\r?\n/.test(text));

test('finds the headings that the CommonMark reference implementation finds', () => {
  fc.assert(
    fc.property(document, (text) => {
      expect(ourHeadings(text)).toEqual(referenceHeadings(text));
    }),
    { numRuns: 20_000 },
  );
});

test('reads the title of a heading without the marks', () => {
  const titles = readMarkdownBlocks('# A *b* \n## C ##\n### d#\nE\nf\n---\n#\n  # \\#g # \r\n').map(
    ({ heading }) => heading?.title,
  );
  expect(titles).toEqual(['A *b*', 'C', 'd#', 'E f', '', '\\#g']);
});

test('does not read YAML front matter as a heading', () => {
  const blocks = readMarkdownBlocks('---\ntitle: x\ntags: [a]\n---\n# One\n');
  expect(blocks.map(({ start, heading }) => [start, heading?.title])).toEqual([
    [0, undefined],
    [27, 'One'],
  ]);
});
