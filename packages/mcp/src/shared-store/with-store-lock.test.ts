import { describe, expect, it } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { InMemoryStore } from './in-memory-store.js';
import { withStoreLock } from './with-store-lock.js';

describe('withStoreLock', () => {
  it('runs one function at a time, with growing numbers', async () => {
    const store = new InMemoryStore();
    let inside = 0;
    const fences: number[] = [];
    const run = async (fence: number): Promise<void> => {
      inside += 1;
      expect(inside).toBe(1);
      fences.push(fence);
      await store.get('x');
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 4 }, () => withStoreLock(store, 'lock', run)));
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
    expect(new Set(fences).size).toBe(4);
    expect(await store.get('lock')).toBeUndefined();
  });

  it('releases the lock when the function throws', async () => {
    const store = new InMemoryStore();
    await expect(withStoreLock(store, 'lock', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await withStoreLock(store, 'lock', async () => 'next')).toBe('next');
  });

  it('stops waiting when the signal aborts, without running', async () => {
    const store = new InMemoryStore();
    await store.put('lock', '');
    const reason = new Error('stop');
    const controller = new AbortController();
    let hasRun = false;
    const waiting = withStoreLock(store, 'lock', async () => void (hasRun = true), { signal: controller.signal });
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(
      withStoreLock(store, 'lock', async () => void (hasRun = true), { signal: controller.signal }),
    ).rejects.toBe(reason);
    expect(hasRun).toBe(false);
  });

  it('renews the lock while the function runs', async () => {
    // Its clock is stopped: the lease does not end on a busy machine.
    const store = new InMemoryStore(() => 0);
    await withStoreLock(
      store,
      'lock',
      async (fence) => {
        await eventually(async () => expect((await store.get('lock'))?.version).toBeGreaterThan(fence));
      },
      { leaseMs: 60 },
    );
    expect(await store.get('lock')).toBeUndefined();
  });

  it('takes over a lock that is not renewed, and leaves it to its new owner', async () => {
    let now = 0;
    const store = new InMemoryStore(() => now);
    let endSuspended = (): void => {};
    const suspended = new Promise<void>((resolve) => (endSuspended = resolve));
    let firstFence = 0;
    const first = withStoreLock(store, 'lock', async (fence) => ((firstFence = fence), suspended));
    await eventually(() => expect(firstFence).toBeGreaterThan(0));
    now = 30_000;
    await withStoreLock(store, 'lock', async (fence) => {
      expect(fence).toBeGreaterThan(firstFence);
      endSuspended();
      await first;
      expect(await store.get('lock')).toBeDefined();
    });
  });

  it('fails when the store is unavailable', async () => {
    const store = new InMemoryStore();
    await store.close();
    await expect(withStoreLock(store, 'lock', async () => {})).rejects.toMatchObject({ code: 'SHARED_STORE_CLOSED' });
  });
});
