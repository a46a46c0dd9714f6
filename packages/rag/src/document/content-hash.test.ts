import { expect, test } from 'vitest';
import { contentHash } from './content-hash.js';

test('contents that differ have hashes that differ', () => {
  const texts = new Set<string>();
  for (let n = 0; n < 20_000; n++) texts.add(`text ${n}`);
  for (let n = 1; n < 300; n++)
    texts
      .add('\0'.repeat(n))
      .add('a'.repeat(n))
      .add(`${'a'.repeat(n)}\0`);
  expect(new Set([...texts].map((text) => contentHash(text))).size).toBe(texts.size);
});

test('parts are kept apart', () => {
  expect(contentHash('ab', 'c')).not.toBe(contentHash('a', 'bc'));
  expect(contentHash('a')).not.toBe(contentHash('a', ''));
  expect(contentHash('a')).toMatch(/^[0-9a-f]{32}$/);
});

test('the hash of a text never changes between releases', () => {
  expect(contentHash('quiver', 'ünï')).toBe('0cad321cb858f954990ecb0fe2e838fa');
});
