import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDeadline } from './deadline.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('fires when the time is over', () => {
  const deadline = createDeadline({ timeout: 100 });
  vi.advanceTimersByTime(99);
  expect(deadline.expired).toBe(false);
  vi.advanceTimersByTime(1);
  expect([deadline.expired, deadline.signal.aborted]).toEqual([true, true]);
});

test('a restart begins anew, but not beyond the total', () => {
  const deadline = createDeadline({ timeout: 100, total: 250 });
  for (const _round of [1, 2, 3]) {
    vi.advanceTimersByTime(80);
    deadline.restart();
  }
  expect(deadline.expired).toBe(false);
  vi.advanceTimersByTime(10);
  expect(deadline.expired).toBe(true);
});

test('stands still while anybody is asked', () => {
  const deadline = createDeadline({ timeout: 100, total: 150 });
  vi.advanceTimersByTime(60);
  deadline.pause();
  deadline.pause();
  vi.advanceTimersByTime(10_000);
  deadline.resume();
  vi.advanceTimersByTime(10_000);
  deadline.resume();
  vi.advanceTimersByTime(39);
  expect(deadline.expired).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.expired).toBe(true);
});

test("passes on the caller's signal with its reason, and lets go of it", () => {
  const caller = new AbortController();
  const deadline = createDeadline({ timeout: 100, signal: caller.signal });
  caller.abort(new Error('enough'));
  expect(deadline.signal.reason).toMatchObject({ message: 'enough' });
  expect(deadline.expired).toBe(false);
  expect(createDeadline({ timeout: 100, signal: caller.signal }).signal.aborted).toBe(true);
});

test('nothing fires after it was cleared, not even a late resume', () => {
  const deadline = createDeadline({ timeout: 100 });
  deadline.pause();
  deadline.clear();
  deadline.resume();
  vi.advanceTimersByTime(1000);
  expect(deadline.signal.aborted).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});
