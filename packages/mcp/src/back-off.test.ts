import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBackOff } from './back-off.js';

test('pauses double, end at the cap, and are cut by at most a half', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const backOff = createBackOff({ first: 100, cap: 30_000, now: () => 0, random: () => random });
      for (let count = 0; count < failures; count += 1) backOff.failed();
      const full = Math.min(30_000, 100 * 2 ** (failures - 1));
      expect(backOff.remaining()).toBeGreaterThanOrEqual(full / 2);
      expect(backOff.remaining()).toBeLessThanOrEqual(full);
    }),
  );
});

test('time passes, and success forgets', () => {
  let now = 0;
  const backOff = createBackOff({ first: 100, now: () => now, random: () => 1 });
  expect(backOff.remaining()).toBe(0);
  backOff.failed();
  now = 60;
  expect(backOff.remaining()).toBe(40);
  now = 200;
  expect(backOff.remaining()).toBe(0);
  backOff.failed();
  expect(backOff.remaining()).toBe(200);
  backOff.reset();
  expect(backOff.remaining()).toBe(0);
});
