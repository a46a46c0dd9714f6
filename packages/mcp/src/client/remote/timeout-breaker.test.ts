import { QuiverError } from '@quiver/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TimeoutBreaker } from './timeout-breaker.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const suspended = expect.objectContaining({ code: 'MCP_SERVER_SUSPENDED' });
const failing = (code: string) => () => Promise.reject(new QuiverError(code, 'failed'));
const responding = () => Promise.resolve('response');

/** The longest first pause. */
const pause = 30_000;

async function timeOut(breaker: TimeoutBreaker, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1)
    await expect(breaker.run(failing('MCP_REQUEST_TIMEOUT'))).rejects.toMatchObject({ code: 'MCP_REQUEST_TIMEOUT' });
}

test('suspends a server after the limit of timeouts in a row, and tries one request after a pause', async () => {
  const breaker = new TimeoutBreaker('it', 3);
  await timeOut(breaker, 2);
  await breaker.run(responding);
  await timeOut(breaker, 3);
  await expect(breaker.run(responding)).rejects.toEqual(suspended);
  vi.advanceTimersByTime(pause / 2 - 1);
  await expect(breaker.run(responding)).rejects.toEqual(suspended);
  vi.advanceTimersByTime(pause / 2 + 1);
  const trial = breaker.run(responding);
  await expect(breaker.run(responding)).rejects.toThrow(/A trial is in progress/);
  await trial;
  await timeOut(breaker, 2);
  await breaker.run(responding);
});

test('pauses longer after each trial that times out', async () => {
  const breaker = new TimeoutBreaker('it', 1);
  await timeOut(breaker, 1);
  vi.advanceTimersByTime(pause);
  await timeOut(breaker, 1);
  vi.advanceTimersByTime(pause - 1);
  await expect(breaker.run(responding)).rejects.toEqual(suspended);
  vi.advanceTimersByTime(pause + 1);
  await breaker.run(responding);
});

test('counts an error of the server as a response', async () => {
  const breaker = new TimeoutBreaker('it', 2);
  await timeOut(breaker, 1);
  await expect(breaker.run(failing('MCP_REQUEST_FAILED'))).rejects.toThrow('failed');
  await timeOut(breaker, 1);
  await breaker.run(responding);
});

test.each([
  ['a lost connection', failing('MCP_CONNECTION_CLOSED')],
  ['a canceled request', () => Promise.reject(new DOMException('stop', 'AbortError'))],
])('learns nothing from %s, and tries another request', async (_title, run) => {
  const breaker = new TimeoutBreaker('it', 2);
  await timeOut(breaker, 1);
  await expect(breaker.run(run)).rejects.toThrow(/failed|stop/);
  await timeOut(breaker, 1);
  vi.advanceTimersByTime(pause);
  await expect(breaker.run(run)).rejects.toThrow(/failed|stop/);
  await breaker.run(responding);
});

test('ends the suspension when an earlier request receives its response', async () => {
  const breaker = new TimeoutBreaker('it', 2);
  let respond = (): void => {};
  const slow = breaker.run(() => new Promise<void>((resolve) => void (respond = resolve)));
  await timeOut(breaker, 2);
  await expect(breaker.run(responding)).rejects.toEqual(suspended);
  respond();
  await slow;
  await breaker.run(responding);
});

test('keeps its pause when the clock of the host is set', async () => {
  const breaker = new TimeoutBreaker('it', 1);
  await timeOut(breaker, 1);
  vi.setSystemTime(Date.now() + 10 * pause);
  await expect(breaker.run(responding)).rejects.toEqual(suspended);
});

test('tries another request when a trial has no response for a pause, and resumes at the response of either', async () => {
  const breaker = new TimeoutBreaker('it', 1);
  await timeOut(breaker, 1);
  vi.advanceTimersByTime(pause);
  let respond = (): void => {};
  const slow = breaker.run(() => new Promise<void>((resolve) => void (respond = resolve)));
  await expect(breaker.run(responding)).rejects.toThrow(/A trial is in progress. The next one is sent after 30 s/);
  vi.advanceTimersByTime(pause - 1);
  await expect(breaker.run(responding)).rejects.toEqual(suspended);
  vi.advanceTimersByTime(1);
  void breaker.run(() => new Promise<void>(() => {}));
  await expect(breaker.run(responding)).rejects.toThrow(/A trial is in progress/);
  respond();
  await slow;
  await breaker.run(responding);
});
