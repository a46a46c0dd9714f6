import { expect, test } from 'vitest';
import { contentHash, createPartHash } from './content-hash.js';

test('different contents have different hashes', () => {
  const texts = new Set<string>();
  for (let n = 0; n < 20_000; n++) texts.add(`text ${n}`);
  for (let n = 1; n < 300; n++)
    texts
      .add('\0'.repeat(n))
      .add('a'.repeat(n))
      .add(`${'a'.repeat(n)}\0`);
  expect(new Set([...texts].map((text) => contentHash(text))).size).toBe(texts.size);
});

test('separates the parts', () => {
  expect(contentHash('ab', 'c')).not.toBe(contentHash('a', 'bc'));
  expect(contentHash('a')).not.toBe(contentHash('a', ''));
  expect(contentHash('a')).toMatch(/^[0-9a-f]{32}$/);
});

test('equals the reference implementation, and never changes between releases', () => {
  expect(contentHash('A text of some length, with ümläuts and 日本語.')).toBe('a56b3e9d7d4e2d6c238017c22a6db1ad');
  expect(contentHash('quiver')).toBe('ccfac434c611e5c1136f5296957765ae');
  expect(contentHash('quiver', 'ünï')).toBe('05a08db6908e4b28865911beced53963');
});

test('hashes a part of a text like its slice', () => {
  const text = 'xxabcdefghijkyy';
  const hashOf = createPartHash('seed');
  for (let end = 2; end < text.length; end++)
    expect(hashOf(text, 2, end)).toBe(contentHash('seed', text.slice(2, end)));
});
