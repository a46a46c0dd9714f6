import { expect, it } from 'vitest';
import { partsOf } from './parts-of.js';

it('splits a list by count and by size', () => {
  const sizeOf = (text: string): number => text.length;
  expect(partsOf(['a', 'b', 'c'], 2)).toEqual([['a', 'b'], ['c']]);
  expect(partsOf(['aa', 'b', 'cccc', 'd'], 9, { sizeOf, maxSize: 3 })).toEqual([['aa', 'b'], ['cccc'], ['d']]);
});
