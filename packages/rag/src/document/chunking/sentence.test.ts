import { describe, expect, test } from 'vitest';
import { expectLinearTime } from '../../../../../scripts/test-cpu-time.ts';
import { MDocument } from '../document.js';
import { readSentenceStarts } from './sentence.js';

function sentences(text: string, enders?: readonly string[]): string[] {
  const { candidates, isStart } = readSentenceStarts(text, enders);
  const starts = candidates.filter((at, index) => isStart(at, index === 0 ? 0 : candidates[index - 1]!));
  return [0, ...starts]
    .map((start, index) => text.slice(start, starts[index]).trim())
    .filter((sentence) => sentence !== '');
}

describe('sentences', () => {
  test.each([
    [
      'abbreviations',
      ['I met Mr. Smith of Acme Inc. in the U.S. on Feb. 3.', 'He had e.g. an idea, etc. and J. R. Hartley too.'],
    ],
    ['capitals after an abbreviation', ['It was made by Acme Inc.', 'We bought it.']],
    ['small letters', ['I like it now.', 'iPhone users do not.', 'they said so.', 'été is over.']],
    ['numbers', ['There were 3.5 of them.', '4 were lost in v1.2.3 of it.', '7.']],
    ['quotations', ['"Really?"', 'he said.', '(Yes.)', '„So ist das.“', 'Gut.']],
    ['Japanese and Chinese', ['これは文です。', '次の文です！', '本当ですか？', '这是一句话。']],
    ['Hindi, Arabic and Greek', ['यह एक वाक्य है।', 'दूसरा वाक्य।', 'هل هذا صحيح؟', 'نعم.', 'Καλημέρα σας.', 'Τι κάνετε.']],
  ])('of %s are found', (_, expected) => {
    const isSpaced = !expected[0]?.endsWith('。');
    expect(sentences(expected.join(isSpaced ? ' ' : ''))).toEqual(expected);
  });

  test('continue over wrapped lines and end at blank lines', () => {
    expect(sentences('A sentence that is\nwrapped here. Next.\n\nno full stop\n\nLast one')).toEqual([
      'A sentence that is\nwrapped here.',
      'Next.',
      'no full stop',
      'Last one',
    ]);
  });

  test('end at the enders of the caller', () => {
    expect(sentences('a; b 1;2 c; "d;" e', [';'])).toEqual(['a;', 'b 1;2 c;', '"d;"', 'e']);
  });

  test('end at marks that also close, and between characters of several code units', async () => {
    expect(sentences('(a) b ))) c', [')'])).toEqual(['(a)', 'b )))', 'c']);
    await expectLinearTime((count) => expect(sentences(`a ${')'.repeat(count)} b`, [')'])).toHaveLength(2), 25_000);
    await expectLinearTime((count) => expect(sentences('👍。'.repeat(count), ['。'])).toHaveLength(count), 2500);
  });
});

describe('sentence chunks', () => {
  const chunk = async (text: string, options = {}): Promise<string[]> =>
    (await MDocument.fromText(text).chunk({ strategy: 'sentence', ...options })).map((piece) => piece.text);

  test('are whole sentences up to the target', async () => {
    const text = 'One is here. Two is here. Three is a bit longer than that. Four.';
    expect(await chunk(text, { maxSize: 40, targetSize: 26 })).toEqual([
      'One is here. Two is here.',
      'Three is a bit longer than that. Four.',
    ]);
  });

  test('go beyond the target for a sentence that fits', async () => {
    expect(
      await chunk('One. This one is longer than the target. Two is here now.', { maxSize: 50, targetSize: 10 }),
    ).toEqual(['One.', 'This one is longer than the target.', 'Two is here now.']);
  });

  test('take one more sentence when they are too small', async () => {
    const text = 'One. Two. This is the third sentence here.';
    expect(await chunk(text, { maxSize: 30, targetSize: 5, minSize: 8 })).toEqual([
      'One. Two.',
      'This is the third sentence',
      'here.',
    ]);
  });

  test('are rejected with empty enders', async () => {
    for (const sentenceEnders of [[], [''], '', ['', '']]) {
      await expect(
        MDocument.fromText('One two three.').chunk({
          strategy: 'sentence',
          sentenceEnders: sentenceEnders as string[],
        }),
      ).rejects.toMatchObject({ code: 'OPTIONS_INVALID' });
    }
  });

  test('cut a sentence that is too long between words, then characters, or throw if they may not', async () => {
    const text = 'Donaudampfschifffahrtsgesellschaft is one word. Yes.';
    expect(await chunk(text, { maxSize: 20 })).toEqual(['Donaudampfschifffahr', 'tsgesellschaft is', 'one word. Yes.']);
    await expect(chunk(text, { maxSize: 20, fallbackToCharacters: false })).rejects.toMatchObject({
      code: 'CHUNK_SIZE_UNREACHABLE',
      details: { index: 0, maxSize: 20 },
    });
  });
});

test.each([
  'Das gilt z. B. für Hunde, d. h. für Haustiere.',
  'Er kommt am 3. Mai oder am 12. Juni.',
  'Im 19. Jahrhundert und im 2. Weltkrieg war das anders.',
  'Møtet er den 3. mai i Oslo.',
  'I. d. R. geht das, u. a. hier, s. o. und s. u. im Text.',
  'See J. R. R. Tolkien and e. g. others.',
])('%s is one sentence', (sentence) => {
  expect(sentences(`${sentence} Danach. Dann.`)).toEqual([sentence, 'Danach.', 'Dann.']);
});

test('keeps the number of a list item with its text', () => {
  const items = ['1. First item.', '2. Second item.', '10. Tenth item.'];
  expect(sentences(items.join('\n'))).toEqual(items);
});

test.each([
  ['Markdown emphasis', ['**It is bold.**', '_It is not?_', '`code.`', 'End.']],
  ['an operator', ['If a!=b then go?x=1 on.', 'Next.']],
  ['a dash', ['Really? – he said; no! - she said.', 'Next.']],
  ['full-width marks', ['円周率は３．１４です．', '次です。」', '終わり']],
])('a sentence with %s ends where a reader sees its end', (what, expected) => {
  expect(sentences(expected.join(what === 'full-width marks' ? '' : ' '))).toEqual(expected);
});
