import { afterEach, describe, expect, it, vi } from 'vitest';
import { InMemoryStore } from './in-memory-store.js';
import { Instance } from './instance.js';

const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
const running: Instance[] = [];

function createInstance(store: InMemoryStore, server = 'weather'): Instance {
  const instance = new Instance({ store, server, logger });
  running.push(instance);
  return instance;
}

/** Returns the first message of a kind. */
function nextMessage(instance: Instance, kind: string): Promise<{ payload: unknown; from: string }> {
  return new Promise((resolve) => instance.on(kind, (payload: unknown, from) => resolve({ payload, from })));
}

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(running.splice(0).map((instance) => instance.close()));
  vi.clearAllMocks();
});

describe('Instance', () => {
  it('is alive from its start to its end', async () => {
    const store = new InMemoryStore();
    const [one, two] = [createInstance(store), createInstance(store)];
    expect(await two.isAlive(one.id)).toBe(false);
    await one.start();
    expect(await two.isAlive(one.id)).toBe(true);
    await one.close();
    expect(await two.isAlive(one.id)).toBe(false);
    expect(await store.keys('')).toEqual([]);
  });

  it('is dead when its sign of life has expired, independent of its own clock', async () => {
    let now = 0;
    const store = new InMemoryStore(() => now);
    const [one, two] = [createInstance(store), createInstance(store)];
    await one.start();
    now += 19_000;
    expect(await two.isAlive(one.id)).toBe(true);
    now += 2_000;
    expect(await two.isAlive(one.id)).toBe(false);
    expect(await one.isAlive(one.id)).toBe(true);
  });

  it('is not dead because the store was unavailable', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
    let now = 0;
    const pass = async (milliseconds: number): Promise<void> => {
      now += milliseconds;
      await vi.advanceTimersByTimeAsync(milliseconds);
    };
    const store = new InMemoryStore(() => now);
    const [one, two] = [createInstance(store), createInstance(store)];
    await two.start();
    await pass(1_000);
    await one.start();
    const put = vi.spyOn(store, 'put').mockRejectedValue(new Error('down'));
    await pass(26_500);
    expect(await store.keys('')).toEqual([]);
    put.mockRestore();
    // Neither before nor after its own sign of life does it take the missing one of the other for its end.
    expect(await two.isAlive(one.id)).toBe(true);
    await pass(2_500);
    expect(await store.keys('')).toHaveLength(1);
    expect(await two.isAlive(one.id)).toBe(true);
    await pass(20_000);
    expect(await two.isAlive(one.id)).toBe(true);
    await one.close();
    expect(await two.isAlive(one.id)).toBe(false);
  });

  it('responds to a probe until its process is killed, also while it still has a sign of life', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const store = new InMemoryStore();
    const [one, two] = [createInstance(store), createInstance(store)];
    await one.start();
    expect(await Promise.all([two.responds(one.id), two.responds(one.id), two.responds(two.id)])).toEqual([
      true,
      true,
      true,
    ]);
    const killed = '0123456789abcdef';
    await store.put(two.nameOf('instance', killed), '{}', { ttlMs: 20_000 });
    expect(await two.isAlive(killed)).toBe(true);
    const probe = two.responds(killed);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await probe).toBe(false);
    await one.close();
    expect(await two.responds(one.id)).toBe(false);
  });

  it('does not treat another one as dead while its own inbox receives nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const store = new InMemoryStore();
    const [one, two] = [createInstance(store), createInstance(store)];
    await Promise.all([one.start(), two.start()]);
    vi.spyOn(store, 'publish').mockResolvedValue();
    const probe = two.responds(one.id);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await probe).toBe(true);
  });

  it('looks for others again after a failure of the store', async () => {
    const store = new InMemoryStore();
    const [one, two] = [createInstance(store), createInstance(store)];
    await Promise.all([one.start(), two.start()]);
    vi.spyOn(store, 'keys').mockRejectedValueOnce(new Error('unavailable'));
    await expect(one.hasOthers()).rejects.toThrow('unavailable');
    expect(await one.hasOthers()).toBe(true);
  });

  it('delivers a message to one instance, and a broadcast to all of the same server', async () => {
    const store = new InMemoryStore();
    const [one, two, other] = [createInstance(store), createInstance(store), createInstance(store, 'maps')];
    await Promise.all([one.start(), two.start(), other.start()]);
    const received: string[] = [];
    for (const [name, instance] of Object.entries({ one, two, other }))
      instance.on('news', (payload: string) => received.push(`${name} ${payload}`));
    const direct = nextMessage(two, 'direct');
    await one.send(two.id, 'direct', { n: 1 });
    expect(await direct).toEqual({ payload: { n: 1 }, from: one.id });
    await one.broadcast('news', 'a');
    await vi.waitFor(() => expect(received.sort()).toEqual(['one a', 'two a']));
  });

  it('drops invalid messages and continues', async () => {
    const store = new InMemoryStore();
    const instance = createInstance(store);
    await instance.start();
    instance.on('broken', () => {
      throw new Error('listener');
    });
    const next = nextMessage(instance, 'next');
    for (const text of ['not JSON', 'null', '{"kind":"broken"}', '{"kind":"unknown"}'])
      await store.publish(`instance/weather/${instance.id}`, text);
    await instance.send(instance.id, 'next', 1);
    expect((await next).payload).toBe(1);
    expect(logger.warn).toHaveBeenCalledTimes(3);
  });

  it('starts again after the store was unavailable', async () => {
    const store = new InMemoryStore();
    const put = vi.spyOn(store, 'put').mockRejectedValueOnce(new Error('down'));
    const instance = createInstance(store);
    await expect(instance.start()).rejects.toThrow('down');
    await instance.start();
    expect(put).toHaveBeenCalledTimes(2);
    const next = nextMessage(instance, 'next');
    await instance.broadcast('next', 1);
    expect((await next).from).toBe(instance.id);
  });

  it('does nothing after its end', async () => {
    const store = new InMemoryStore();
    const instance = createInstance(store);
    await instance.close();
    await instance.start();
    expect(await store.keys('')).toEqual([]);
  });
});
