import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Instance } from '../../shared-store/instance.js';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { ResumableRuns } from './resumable-runs.js';

const ignore = (): void => {};
const logger = { debug: ignore, info: ignore, warn: vi.fn(), error: ignore };
const second = 1000;

beforeEach(() => {
  vi.useFakeTimers();
  // The pauses vary by a quarter.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Runs of an instance in a store, whose search for tasks finds nothing that has ended. */
function createRuns(store: InMemoryStore, hasTools = true): { runs: ResumableRuns; recovered: string[] } {
  const recovered: string[] = [];
  const instance = new Instance({ store, server: 'it', logger });
  const recover = async (id: string): Promise<{ hasEnded: boolean }> => {
    recovered.push(id);
    return { hasEnded: id === 'ended' };
  };
  return { runs: new ResumableRuns({ instance, hasTools: () => hasTools, recover }), recovered };
}

test('finds tasks without a process at once, after half a minute and then every few minutes', async () => {
  const store = new InMemoryStore();
  const { runs, recovered } = createRuns(store);
  await store.put('task-run/it/first', 'dead');
  await store.put('task-run/it/ended', 'dead');
  await store.put('task-run/it/running', 'alive');
  await store.put('instance/it/alive', '{}');
  runs.watch();
  await vi.advanceTimersByTimeAsync(0);
  expect(recovered).toEqual(['first', 'ended']);
  expect(await store.keys('task-run/')).toEqual(['task-run/it/first', 'task-run/it/running']);
  await store.delete('task-run/it/first');
  await store.delete('instance/it/alive');
  await vi.advanceTimersByTimeAsync(29 * second);
  expect(recovered).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(second);
  expect(recovered).toEqual(['first', 'ended', 'running']);
  await vi.advanceTimersByTimeAsync(299 * second);
  expect(recovered).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(second);
  expect(recovered).toHaveLength(4);
  runs.close();
  await vi.advanceTimersByTimeAsync(3600 * second);
  expect(recovered).toHaveLength(4);
});

test('continues to look after a failure of the store', async () => {
  const store = new InMemoryStore();
  const { runs, recovered } = createRuns(store);
  await store.put('task-run/it/first', 'dead');
  vi.spyOn(store, 'keys').mockRejectedValueOnce(new Error('The store is unavailable.'));
  runs.watch();
  await vi.advanceTimersByTimeAsync(0);
  expect(logger.warn).toHaveBeenCalledWith(expect.stringContaining('The store is unavailable.'), expect.anything());
  await vi.advanceTimersByTimeAsync(30 * second);
  expect(recovered).toEqual(['first']);
  runs.close();
});
