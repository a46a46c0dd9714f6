import { describe, expect, it } from 'vitest';
import { startSharedTask } from './shared-task.js';

describe('startSharedTask', () => {
  const untilStopped = (signal: AbortSignal): Promise<string> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

  it('gives every caller the same result, also those that come late', async () => {
    let runs = 0;
    const task = startSharedTask(async () => (runs += 1));
    expect(await Promise.all([task.wait(undefined), task.wait(new AbortController().signal)])).toEqual([1, 1]);
    expect(await task.wait(undefined)).toBe(1);
    expect(task.isAbandoned).toBe(false);
  });

  it('is aborted when the last caller has given up, and not before', async () => {
    const stopped: unknown[] = [];
    const task = startSharedTask((signal) => {
      signal.addEventListener('abort', () => stopped.push(signal.reason));
      return untilStopped(signal);
    });
    const [first, last] = [new AbortController(), new AbortController()];
    const waits = [task.wait(first.signal), task.wait(last.signal)].map((wait) =>
      wait.catch((error: unknown) => error),
    );
    first.abort('first');
    expect(await waits[0]).toBe('first');
    expect({ stopped, isAbandoned: task.isAbandoned }).toEqual({ stopped: [], isAbandoned: false });
    last.abort('last');
    expect(await waits[1]).toBe('last');
    expect({ stopped, isAbandoned: task.isAbandoned }).toEqual({ stopped: ['last'], isAbandoned: true });
  });

  it('refuses a caller that had given up before', async () => {
    const task = startSharedTask(async () => 'done');
    await expect(task.wait(AbortSignal.abort('too late'))).rejects.toBe('too late');
  });
});
