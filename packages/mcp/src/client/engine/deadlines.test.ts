import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadlines, type DeadlineOptions } from './deadlines.js';

let deadlines: Deadlines;
let expired: string[];
beforeEach(() => {
  vi.useFakeTimers();
  deadlines = new Deadlines();
  expired = [];
});
afterEach(() => void vi.useRealTimers());

const start = (name: string, options: Omit<DeadlineOptions, 'onExpired'>) =>
  deadlines.start({ ...options, onExpired: () => expired.push(name) });

test('expires each request at its own time with one timer', () => {
  start('slow', { timeout: 300 });
  start('fast', { timeout: 100 });
  start('never', { timeout: 0 });
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(99);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['fast']);
  vi.advanceTimersByTime(200);
  expect(expired).toEqual(['fast', 'slow']);
});

test('does not expire a request that ended, and reuses its timer', () => {
  for (let round = 0; round < 5; round += 1) deadlines.stop(start('ended', { timeout: 100 }));
  expect(vi.getTimerCount()).toBe(1);
  start('open', { timeout: 500 });
  vi.advanceTimersByTime(500);
  expect(expired).toEqual(['open']);
});

test('a restart begins anew, but not beyond the total', () => {
  const deadline = start('it', { timeout: 100, total: 250 });
  for (const _round of [1, 2, 3]) {
    vi.advanceTimersByTime(80);
    deadlines.restart(deadline);
  }
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(expired).toEqual(['it']);
});

test('no time passes while the application answers the server', () => {
  start('it', { timeout: 100, total: 150 });
  vi.advanceTimersByTime(60);
  deadlines.pause();
  deadlines.pause();
  vi.advanceTimersByTime(5000);
  start('later', { timeout: 200 });
  vi.advanceTimersByTime(5000);
  deadlines.resume();
  vi.advanceTimersByTime(10_000);
  deadlines.resume();
  vi.advanceTimersByTime(39);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['it']);
  vi.advanceTimersByTime(160);
  expect(expired).toEqual(['it', 'later']);
});

test('keeps timeouts longer than the longest timer', () => {
  start('it', { timeout: 2 ** 32 });
  vi.advanceTimersByTime(2 ** 31);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(2 ** 31);
  expect(expired).toEqual(['it']);
});
