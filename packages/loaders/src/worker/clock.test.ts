import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Clock } from './clock.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('does not count the time of a pause', () => {
  const onEnd = vi.fn<() => void>();
  const clock = new Clock(100, onEnd);
  clock.run();
  vi.advanceTimersByTime(60);
  clock.pause();
  vi.advanceTimersByTime(1000);
  clock.run();
  clock.run();
  vi.advanceTimersByTime(39);
  expect(onEnd).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onEnd).toHaveBeenCalledTimes(1);
});

test('accepts a time without end', () => {
  const onEnd = vi.fn<() => void>();
  new Clock(Infinity, onEnd).run();
  vi.advanceTimersByTime(1_000_000);
  expect(onEnd).not.toHaveBeenCalled();
});
