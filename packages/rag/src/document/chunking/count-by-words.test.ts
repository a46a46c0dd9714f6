import { array, assert, constantFrom, property } from 'fast-check';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import * as harmony from 'gpt-tokenizer/encoding/o200k_harmony';
import * as p50k from 'gpt-tokenizer/encoding/p50k_base';
import * as p50kEdit from 'gpt-tokenizer/encoding/p50k_edit';
import * as r50k from 'gpt-tokenizer/encoding/r50k_base';
import { describe, expect, it } from 'vitest';
import { countByWords } from './token-counter.js';

const options = { disallowedSpecial: new Set<string>() };
/** Characters that the patterns of the encodings treat in different ways. */
const units = [
  [' ', '  ', '\n', '\n\n', '\r\n', '\t', '\u00a0', '\u3000', '\u2028', '\ufeff'],
  ['/', '//', "'s", "'", '.', ', ', '(', '—', '\0', '<|endoftext|>'],
  ['word', 'Word', 'WORD', 'a', '7', '1234', 'ß', 'é', '日本', '👩‍👩‍👧', '\ud83d', '\u0301'],
].flat();
const text = array(constantFrom(...units), { maxLength: 40 }).map((parts) => parts.join(''));

describe.each(Object.entries({ cl100k, o200k, harmony, p50k, p50kEdit, r50k }))('tokens of %s', (_name, encoding) => {
  const count = (piece: string): number => encoding.countTokens(piece, options);

  it('are as many in the pieces as in the text', () => {
    const counted = countByWords(count);
    assert(
      property(text, (sample) => {
        expect(counted(sample)).toBe(count(sample));
      }),
      { numRuns: 2000 },
    );
  });
});

it('a piece that comes again is not counted again', () => {
  const asked: string[] = [];
  const counted = countByWords((piece) => asked.push(piece) && piece.length);
  expect(counted('one two one two')).toBe(15);
  expect(counted('one two')).toBe(7);
  expect(asked).toEqual(['one', ' two', ' one']);
});
