import { expect, it } from 'vitest';
import { untilAborted, withinTime } from './async.js';

const forever = new Promise<never>(() => undefined);

it('starts nothing when the signal has fired', async () => {
  let started = 0;
  const start = async (): Promise<number> => (started += 1);
  await expect(untilAborted(start, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  expect(started).toBe(0);
});

it('stops waiting when the signal fires', async () => {
  const controller = new AbortController();
  const waiting = untilAborted(() => forever, controller.signal);
  controller.abort(new Error('later'));
  await expect(waiting).rejects.toThrow('later');
});

it('stops waiting for what fires the signal itself', async () => {
  const controller = new AbortController();
  const start = (): Promise<never> => {
    controller.abort(new Error('itself'));
    return forever;
  };
  await expect(untilAborted(start, controller.signal)).rejects.toThrow('itself');
});

it('hands on the result, and the error', async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(async () => 1, signal)).toBe(1);
  await expect(untilAborted(() => Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
});

it('withinTime rejects with the error of the caller after the limit', async () => {
  const forever = new Promise<never>(() => {});
  await expect(withinTime(forever, 5, (limit) => new Error(`more than ${limit} ms`))).rejects.toThrow('more than 5 ms');
  expect(await withinTime(Promise.resolve(1), 60_000, () => new Error('late'))).toBe(1);
  expect(await withinTime(Promise.resolve(1), undefined, () => new Error('late'))).toBe(1);
});
