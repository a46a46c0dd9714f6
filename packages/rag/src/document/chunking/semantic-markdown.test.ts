import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, test } from 'vitest';
import { MDocument } from '../document.js';

const guide =
  '\n# Guide\n\nShort.\n\n## Install\n\nRun npm install.\n\n### Deep\n\nx\n\n## Use\n\nCall it.\n\n# Reference\n\nEvery option has a default.\n';

async function chunk(text: string, options = {}): Promise<[readonly string[] | undefined, string][]> {
  const chunks = await MDocument.fromMarkdown(text).chunk({ strategy: 'semantic-markdown', ...options });
  for (const piece of chunks) expect(piece.metadata['tokenCount']).toBe(countTokens(piece.text));
  return chunks.map((piece) => [piece.metadata.headings, piece.text]);
}

describe('semantic-markdown chunks', () => {
  test('join sections with their own subsections first, and have the headings above all of them', async () => {
    expect(await chunk(guide, { joinThreshold: 12 })).toEqual([
      [['Guide'], '# Guide\n\nShort.'],
      [['Guide', 'Install'], '## Install\n\nRun npm install.\n\n### Deep\n\nx'],
      [['Guide', 'Use'], '## Use\n\nCall it.'],
      [['Reference'], '# Reference\n\nEvery option has a default.'],
    ]);
    expect((await chunk(guide, { joinThreshold: 29 })).map(([headings]) => headings)).toEqual([
      ['Guide'],
      ['Reference'],
    ]);
    expect(await chunk(guide)).toEqual([[undefined, guide.trim()]]);
  });

  test('are split where a section has more tokens than maxSize', async () => {
    const text = `# A\n\n${'many words here. '.repeat(50)}`;
    const pieces = await chunk(text, { maxSize: 40, overlap: 0 });
    expect(pieces.length).toBeGreaterThan(3);
    for (const [headings, piece] of pieces) {
      expect(headings).toEqual(['A']);
      expect(countTokens(piece)).toBeLessThanOrEqual(40);
    }
  });
});
