import { expect, test } from 'vitest';
import { contentHash } from '../document/content-hash.js';
import { createIdSet } from './id-set.js';

test('an id set holds what was added and nothing else, however large it grows', () => {
  const ids = createIdSet();
  const hashes = Array.from({ length: 20_000 }, (_, n) => contentHash(String(n)));
  for (const hash of hashes.slice(0, 10_000)) expect(ids.add(hash)).toBe(true);
  for (const hash of hashes.slice(0, 10_000)) expect(ids.add(hash)).toBe(false);
  expect(hashes.map((hash) => ids.has(hash))).toEqual(hashes.map((_, n) => n < 10_000));
});

test('ids that differ in one digit are told apart', () => {
  const ids = createIdSet();
  const similar = Array.from({ length: 32 }, (_, place) => `${'0'.repeat(place)}1${'0'.repeat(31 - place)}`);
  for (const id of similar) expect(ids.add(id)).toBe(true);
  expect(ids.has('0'.repeat(30).concat('11'))).toBe(false);
});

test('an id set knows no id of another form, and takes none', () => {
  const ids = createIdSet();
  for (const id of ['', 'manual-1', `${'a'.repeat(31)}g`, 'A'.repeat(32)]) {
    expect(ids.has(id)).toBe(false);
    expect(() => ids.add(id)).toThrow(RangeError);
  }
});
