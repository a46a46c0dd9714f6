import { describe, expect, test } from 'vitest';
import { MDocument } from '../document.js';

const guide = `Preamble.

# Guide

## Install

Run npm install.

### From source

\`\`\`sh
# not a heading
make
\`\`\`

Use
===

Call it.
`;

async function chunk(text: string, options = {}): Promise<[string[] | undefined, string][]> {
  const chunks = await MDocument.fromMarkdown(text).chunk(options);
  return chunks.map((piece) => [piece.metadata.headings as string[] | undefined, piece.text]);
}

describe('markdown chunks', () => {
  test('are sections with the path of their headings', async () => {
    expect(await chunk(guide, { minSize: 0 })).toEqual([
      [undefined, 'Preamble.'],
      [['Guide', 'Install'], '# Guide\n\n## Install\n\nRun npm install.'],
      [['Guide', 'Install', 'From source'], '### From source\n\n```sh\n# not a heading\nmake\n```'],
      [['Use'], 'Use\n===\n\nCall it.'],
    ]);
  });

  test('do not repeat text across headings', async () => {
    const pieces = await chunk(guide, { overlap: 20 });
    expect(
      pieces
        .map(([, text]) => text)
        .join('')
        .replace(/\s/g, ''),
    ).toBe(guide.replace(/\s/g, ''));
  });

  test('end before a fence that would otherwise be cut, however small that leaves them', async () => {
    const fence = `\`\`\`\n${'line of code\n'.repeat(6)}\`\`\``;
    const pieces = await chunk(`# A\n\nIntro.\n\n${fence}\n\nAfter.`, { maxSize: 90, overlap: 0, minSize: 0 });
    expect(pieces.map(([, text]) => text)).toEqual(['# A\n\nIntro.', fence, 'After.']);
  });

  test('cut a fence that is too long at its lines', async () => {
    const fence = `\`\`\`\n${'line of code\n'.repeat(20)}\`\`\``;
    const pieces = await chunk(fence, { maxSize: 60, overlap: 0 });
    for (const [, text] of pieces) expect(text).toMatch(/^(```\n)?(line of code\n?)+(```)?$/);
    expect(pieces.length).toBeGreaterThan(3);
  });

  test('keep list items whole', async () => {
    const list = Array.from({ length: 9 }, (_, index) => `- item ${index}\n  goes on`).join('\n');
    for (const [, text] of await chunk(`# L\n\n${list}\n`, { maxSize: 50, overlap: 0 })) {
      expect(text).toMatch(/^(# L\n\n)?(- item \d\n  goes on\n?)+$/);
    }
  });

  test('keep a heading with the text under it', async () => {
    const pieces = await chunk(`# Title\n\n${'word '.repeat(40)}`, { maxSize: 60, overlap: 0 });
    expect(pieces[0]?.[1]).toMatch(/^# Title\n\nword word/);
  });

  test('have the texts of links and pictures in their headings', async () => {
    const text =
      '# [Site](https://a.example/x_(y)) and ![logo](l.png)\n\nOne.\n\n[![built](b.svg)](https://ci.example) [two][2]\n===\n\nTwo.';
    expect((await chunk(text, { minSize: 0 })).map(([headings]) => headings)).toEqual([
      ['Site and logo'],
      ['built two'],
    ]);
  });

  test('are not below a table of contents', async () => {
    const text =
      '# Table of contents\n\nOne, two.\n\n## One\n\nText.\n\n### Part\n\nMore.\n\n# Inhalt:\n\n## Zwei\n\nText.';
    expect((await chunk(text, { minSize: 0 })).map(([headings]) => headings)).toEqual([
      ['Table of contents'],
      ['One'],
      ['One', 'Part'],
      ['Zwei'],
    ]);
  });

  test('of text without headings have none', async () => {
    expect(await chunk('just text')).toEqual([[undefined, 'just text']]);
  });
});

test('a heading without a title begins no chunk', async () => {
  const chunks = await MDocument.fromMarkdown('# One\n\nText.\n\n#\n\nMore.').chunk({ maxSize: 100 });
  expect(chunks.map(({ text, metadata }) => [text, metadata.headings])).toEqual([
    ['# One\n\nText.\n\n#\n\nMore.', ['One']],
  ]);
  expect(await MDocument.fromMarkdown('\n#'.repeat(2000)).chunk({ maxSize: 1000, overlap: 0 })).toHaveLength(4);
});
