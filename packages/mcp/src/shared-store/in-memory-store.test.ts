import { describeSharedStore } from '@quiver/devtools/stores';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { InMemoryStore } from './in-memory-store.js';

const store = new InMemoryStore();
describeSharedStore({ name: 'InMemoryStore', create: () => store });

describe('InMemoryStore', () => {
  it('measures lifetimes and buckets by its clock', async () => {
    let now = 0;
    const clocked = new InMemoryStore(() => now);
    const bucket = { capacity: 2, perSecond: 4 };
    await clocked.put('record', 'x', { ttlMs: 1000 });
    expect(await clocked.take('bucket', 2, bucket)).toBe(0);
    expect(await clocked.take('bucket', 1, bucket)).toBe(250);
    now = 125;
    expect(await clocked.take('bucket', 1, bucket)).toBe(125);
    now = 250;
    expect(await clocked.take('bucket', 1, bucket)).toBe(0);
    now = 999;
    expect((await clocked.get('record'))?.value).toBe('x');
    now = 1000;
    expect(await clocked.get('record')).toBeUndefined();
  });

  it('refills a bucket from the new time of a clock that was set back', async () => {
    let now = 3_600_000;
    const clocked = new InMemoryStore(() => now);
    const bucket = { capacity: 2, perSecond: 4 };
    expect(await clocked.take('back', 1, bucket)).toBe(0);
    now = 0;
    // It is neither emptied nor filled.
    expect(await clocked.take('back', 1, bucket)).toBe(0);
    expect(await clocked.take('back', 1, bucket)).toBe(250);
    now = 250;
    expect(await clocked.take('back', 1, bucket)).toBe(0);
    now = -1_000_000;
    expect(await clocked.take('back', 1, bucket)).toBe(250);
    now += 250;
    expect(await clocked.take('back', 1, bucket)).toBe(0);
  });

  it('is not affected by the wall clock by default', async () => {
    const unaffected = new InMemoryStore();
    const now = vi.spyOn(Date, 'now');
    onTestFinished(() => now.mockRestore());
    await unaffected.put('record', 'x', { ttlMs: 60_000 });
    const bucket = { capacity: 1, perSecond: 1e-6 };
    expect(await unaffected.take('bucket', 1, bucket)).toBe(0);
    now.mockReturnValue(Number.MAX_SAFE_INTEGER);
    expect((await unaffected.get('record'))?.value).toBe('x');
    expect(await unaffected.take('bucket', 1, bucket)).toBeGreaterThan(0);
  });

  it('rejects every call after it was closed', async () => {
    const closed = new InMemoryStore();
    await closed.close();
    await expect(closed.get('x')).rejects.toMatchObject({ code: 'SHARED_STORE_CLOSED' });
    await expect(closed.subscribe('x', () => {})).rejects.toMatchObject({ code: 'SHARED_STORE_CLOSED' });
    await closed.close();
  });
});
