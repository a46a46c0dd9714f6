import { expect, it } from 'vitest';
import { idListings } from './chroma-collection.js';

it('gives a listing once, and none that is a minute old', () => {
  let now = 0;
  const listings = idListings(() => now);
  const listing = { ids: ['a'], next: 0, at: 0 };
  listings.keep('x', listing);
  expect([listings.take('x'), listings.take('x')]).toEqual([listing, undefined]);
  listings.keep('x', listing);
  now = 60_001;
  expect(listings.take('x')).toBeUndefined();
});

it('keeps the last eight', () => {
  const listings = idListings(() => 0);
  for (let n = 0; n < 9; n += 1) listings.keep(String(n), { ids: [], next: n, at: 0 });
  expect([listings.take('0'), listings.take('1')?.next, listings.take('8')?.next]).toEqual([undefined, 1, 8]);
});
