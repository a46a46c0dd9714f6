import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectLinearTime } from '../../../../../scripts/test-cpu-time.ts';
import { MDocument } from '../document.js';
import { createChunker, type ChunkParams } from './chunking-strategy.js';
import { findViolation } from './find-violation.fixture.js';

const chunk = async (text: string, options: ChunkParams): Promise<string[]> =>
  (await MDocument.fromText(text).chunk({ overlap: 0, ...options })).map((piece) => piece.text);

describe('character chunks', () => {
  test('contain as many pieces as fit', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n');
    expect((await chunk(lines, { strategy: 'character', separator: '\n', maxSize: 40 })).length).toBe(4);
  });

  test('are the parts of the text where only the separator is given', async () => {
    const source = 'a\n\nb\n\n\n\nc';
    const chunks = await MDocument.fromText(source).chunk({ strategy: 'character', separator: '\n\n' });
    expect(chunks.map(({ text, metadata }) => [text, metadata.startIndex])).toEqual([
      ['a', 0],
      ['b', 3],
      ['c', 8],
    ]);
    expect(await chunk('a, b, c', { strategy: 'character', separator: ', ' })).toEqual(['a,', 'b,', 'c']);
    expect(await chunk('a1b22c', { strategy: 'character', separator: '\\d+', isSeparatorRegex: true })).toEqual([
      'a1',
      'b22',
      'c',
    ]);
    expect(await chunk('a-b-c', { strategy: 'character', separator: '-', separatorPosition: 'start' })).toEqual([
      'a',
      '-b',
      '-c',
    ]);
    expect(await chunk(source, { strategy: 'character', separator: '\n\n', maxSize: 4000 })).toEqual([source]);
    expect(await chunk(source, { strategy: 'character', separator: '' })).toEqual([source]);
    expect(await chunk(source, { strategy: 'character' })).toEqual([source]);
  });

  test('keep the text and whole characters where no size is given, up to 4,000 units', async () => {
    const piece = fc.constantFrom('a', '\n\n', '\r\n', ' ', ', ', '.', '👩‍👩‍👧‍👦', 'e\u0301', '\u0301', 'word '.repeat(900));
    const source = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    const separators = fc.uniqueArray(fc.constantFrom('\n\n', '\n', ', ', '.', 'e'), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(source, separators, fc.boolean(), async (text, chosen, stripWhitespace) => {
        const split = await createChunker('character', { separators: chosen, stripWhitespace });
        const sizes = { maxSize: 4000, overlap: 0, stripWhitespace, measure: ({ length }: string) => length };
        expect(findViolation(text, split(text), sizes)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });

  test('keep the separator on the requested side', async () => {
    const options = { strategy: 'character', separators: '|', maxSize: 4, stripWhitespace: false } as const;
    expect(await chunk('ab|cd|ef', options)).toEqual(['ab|', 'cd|', 'ef']);
    expect(await chunk('ab|cd|ef', { ...options, separatorPosition: 'start' as const })).toEqual(['ab', '|cd', '|ef']);
    expect(await chunk('ab|cd|ef', { ...options, keepSeparator: false })).toEqual(['ab|', 'cd|', 'ef']);
  });

  test('are cut between words, then characters, if a part is too long', async () => {
    expect(
      await chunk('some words and abcdefghijklmn', { strategy: 'character', separator: ',', maxSize: 10 }),
    ).toEqual(['some words', 'and', 'abcdefghij', 'klmn']);
  });
});

describe('patterns as separators', () => {
  test('match with the text around them', async () => {
    const options = {
      strategy: 'recursive',
      separators: [String.raw`(?<=\d)\.\s+(?=[A-Z])`, ' '],
      isSeparatorRegex: true,
      maxSize: 12,
    } as const;
    expect(await chunk('See p. 5. Then p. 7. End', options)).toEqual(['See p. 5.', 'Then p. 7.', 'End']);
  });

  test('are rejected if they are invalid', async () => {
    await expect(chunk('a', { strategy: 'character', separator: '(', isSeparatorRegex: true })).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    });
  });
});

describe('source code', () => {
  test('is cut before declarations, which keep their comments', async () => {
    const source = '// About a.\nfunction a() {\n  return 1;\n}\n\n// About b.\nfunction b() {\n\n  return 2;\n}\n';
    expect(await chunk(source, { strategy: 'recursive', language: 'js', maxSize: 60 })).toEqual([
      '// About a.\nfunction a() {\n  return 1;\n}',
      '// About b.\nfunction b() {\n\n  return 2;\n}',
    ]);
    const python = 'class A:\n    def f(self):\n        return 1\n    def g(self):\n        return 2\n';
    expect(await chunk(python, { strategy: 'recursive', language: 'python', maxSize: 50 })).toEqual([
      'class A:\n    def f(self):\n        return 1',
      'def g(self):\n        return 2',
    ]);
  });

  test('has its language in the metadata, and separators of its own only', async () => {
    // The language of the words stays: stores analyze them by it.
    const german = MDocument.fromText('a', { language: 'de' });
    const [piece] = await german.chunk({ strategy: 'recursive', language: 'go' });
    expect(piece?.metadata).toMatchObject({ language: 'de', codeLanguage: 'go' });
    await expect(chunk('a', { strategy: 'recursive', language: 'go', separator: ' ' })).rejects.toThrow(
      /exclude each other/,
    );
    await expect(chunk('a', { strategy: 'recursive', language: 'klingon' as 'go' })).rejects.toThrow(
      /'language' must be one of 'c', 'cobol'/,
    );
  });
});

describe('markdown headers', () => {
  const text = 'Intro.\n\n# One\n\na\n\n### Deep\n\nb\n\n## Two\n\nc\nd\n';
  const chunks = (options: object): Promise<{ text: string; metadata: object }[]> =>
    MDocument.fromMarkdown(text).chunk({
      strategy: 'markdown',
      headers: [
        ['#', 'title'],
        ['##', 'part'],
      ],
      ...options,
    });

  test('begin chunks and name them; they themselves are left out', async () => {
    expect(await chunks({})).toMatchObject([
      { text: 'Intro.' },
      { text: 'a\n\n### Deep\n\nb', metadata: { title: 'One', headings: ['One'] } },
      { text: 'c\nd', metadata: { title: 'One', part: 'Two', headings: ['One', 'Two'] } },
    ]);
    expect((await chunks({ stripHeaders: false }))[2]?.text).toBe('## Two\n\nc\nd');
  });

  test('can be on each line', async () => {
    expect((await chunks({ returnEachLine: true })).map((piece) => piece.text)).toEqual([
      'Intro.',
      'a',
      '### Deep',
      'b',
      'c',
      'd',
    ]);
  });
});

describe('latex chunks', () => {
  test('have the titles above them, without those in comments and verbatim text', async () => {
    const text = String.raw`Intro % \section{no}
\section[short]{A \emph{title}}
\begin{verbatim}
\section{no}
\end{verbatim}
\subsection*{B}
100\% sure.`;
    const found = await MDocument.fromText(text).chunk({ strategy: 'latex', minSize: 0 });
    expect(found.map(({ metadata }) => metadata.headings)).toEqual([
      undefined,
      [String.raw`A \emph{title}`],
      [String.raw`A \emph{title}`, 'B'],
    ]);
    expect(found[2]?.text).toBe('\\subsection*{B}\n100\\% sure.');
  });

  test('are found in a long text of environments and titles that never end', async () => {
    for (const mark of ['\\begin{verbatim}\n', '\\section[a\n'])
      await expectLinearTime(async (length) => {
        const text = `${mark.repeat(length / mark.length)}\\section{Last}\nText.`;
        const chunks = await MDocument.fromText(text).chunk({ strategy: 'latex' });
        expect(chunks.at(-1)).toMatchObject({ text: '\\section{Last}\nText.', metadata: { headings: ['Last'] } });
      }, 150_000);
  });
});
