import { describeSharedStore } from '@quiver/mcp/testing';
import { describe, expect, it } from 'vitest';
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
    // A clock that goes back empties no bucket.
    await clocked.take('back', 1, bucket);
    now = 0;
    expect(await clocked.take('back', 1, bucket)).toBe(0);
  });

  it('rejects every call after it was closed', async () => {
    const closed = new InMemoryStore();
    await closed.close();
    await expect(closed.get('x')).rejects.toMatchObject({ code: 'SHARED_STORE_CLOSED' });
    await expect(closed.subscribe('x', () => {})).rejects.toMatchObject({ code: 'SHARED_STORE_CLOSED' });
    await closed.close();
  });
});
