import { getDefaultLogger } from '@quiver/core';
import { anyValue, checkOptions, type OptionChecks } from '@quiver/core/internal';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SharedStore } from '@quiver/mcp/server';

/** Options of `describeSharedStore()`. */
export interface DescribeSharedStoreOptions {
  /** Title of the suite. */
  name: string;
  /**
   * Opens a store over the state of the suite, which is empty at first. Called several times: each store stands for a process. A store
   * of one process may return the same object.
   */
  create: () => SharedStore | Promise<SharedStore>;
  /** Opens a store whose server does not answer. Without it, the tests of an unavailable store are left out. */
  createUnavailable?: (() => SharedStore | Promise<SharedStore>) | undefined;
  /** Called once at the end, after all stores are closed. */
  cleanUp?: (() => void | Promise<void>) | undefined;
}

/** Number of concurrent writers: enough to collide. */
const writers = 10;
const minute = 60_000;

const checks: OptionChecks<DescribeSharedStoreOptions> = {
  name: anyValue,
  create: anyValue,
  createUnavailable: anyValue,
  cleanUp: anyValue,
};

/**
 * Suite of tests that every `SharedStore` must pass. Needs Vitest.
 *
 * @example
 * describeSharedStore({ name: 'MyStore', create: () => new MyStore({ url }) });
 */
export function describeSharedStore(options: DescribeSharedStoreOptions): void {
  checkOptions('describeSharedStore', options, checks);
  const { name, create, createUnavailable, cleanUp } = options;
  describe(`${name} as a shared store`, () => {
    let a: SharedStore;
    let b: SharedStore;
    let test = 0;
    /** Returns a name that no other test uses. */
    const own = (text: string): string => `test ${test}: ${text}`;
    const turns = <Value>(run: (store: SharedStore, turn: number) => Promise<Value>): Promise<Value[]> =>
      Promise.all(Array.from({ length: writers }, (_, turn) => run(turn % 2 === 0 ? a : b, turn)));

    beforeAll(async () => {
      // At the same time, because processes of a deployment start together.
      [a, b] = await Promise.all([create(), create()]);
      await Promise.all([a.get('first use'), b.get('first use')]);
    }, 60_000);
    beforeEach(() => void (test += 1));
    afterAll(async () => {
      await a.close();
      await b.close();
      await cleanUp?.();
    });

    describe('records', () => {
      it('stores, replaces and deletes a record', async () => {
        const key = own('record');
        expect(await a.get(key)).toBeUndefined();
        const first = await a.put(key, 'one');
        expect(await b.get(key)).toEqual({ value: 'one', version: first });
        const second = await b.put(key, 'two');
        expect(second).toBeGreaterThan(first as number);
        expect(await a.get(key)).toEqual({ value: 'two', version: second });
        expect(await a.delete(key)).toBe(true);
        expect(await b.get(key)).toBeUndefined();
        expect(await b.delete(key)).toBe(false);
      });

      it('writes and deletes only the version that is named', async () => {
        const key = own('record');
        expect(await a.put(key, 'x', { version: 1 })).toBeUndefined();
        expect(await a.get(key)).toBeUndefined();
        const first = (await a.put(key, 'one', { version: 0 })) as number;
        expect(await b.put(key, 'other', { version: 0 })).toBeUndefined();
        const second = (await b.put(key, 'two', { version: first })) as number;
        expect(await a.put(key, 'late', { version: first })).toBeUndefined();
        expect(await a.delete(key, { version: first })).toBe(false);
        expect(await a.get(key)).toEqual({ value: 'two', version: second });
        expect(await a.delete(key, { version: second })).toBe(true);
        expect(await a.put(key, 'gone', { version: second })).toBeUndefined();
        expect(await a.put(key, 'three', { version: 0 })).toBeGreaterThan(second);
      });

      it('lets one of several creators succeed', async () => {
        const versions = await turns((store, turn) => store.put(own('record'), String(turn), { version: 0 }));
        expect(versions.filter((version) => version !== undefined)).toHaveLength(1);
        const winner = versions.findIndex((version) => version !== undefined);
        expect(await a.get(own('record'))).toEqual({ value: String(winner), version: versions[winner] });
      });

      it('loses no update of concurrent writers that repeat with the version they read', async () => {
        const key = own('counter');
        await turns(async (store) => {
          for (;;) {
            const { value, version } = (await store.get(key)) ?? { value: '0', version: 0 };
            if (await store.put(key, String(Number(value) + 1), { version })) return;
          }
        });
        expect((await a.get(key))?.value).toBe(String(writers));
      });

      it('lets one of several delete a version', async () => {
        const version = await a.put(own('record'), 'x');
        const deleted = await turns((store) => store.delete(own('record'), { version }));
        expect(deleted.filter(Boolean)).toHaveLength(1);
      });

      it('ends records at the end of their lifetime, and gives a new one a higher version', async () => {
        const key = own('short');
        await a.put(own('long'), 'x', { ttlMs: minute });
        const version = (await a.put(key, 'x', { ttlMs: 20 })) as number;
        await vi.waitFor(async () => expect(await b.get(key)).toBeUndefined(), 10_000);
        expect(await b.keys(own(''))).toEqual([own('long')]);
        expect(await b.put(key, 'late', { version })).toBeUndefined();
        expect(await b.delete(key)).toBe(false);
        expect(await b.put(key, 'new', { version: 0 })).toBeGreaterThan(version);
        expect((await a.get(key))?.value).toBe('new');
      });

      it('removes the lifetime with a write without one', async () => {
        const [key, clock] = [own('kept'), own('clock')];
        await a.put(key, 'x', { ttlMs: 50 });
        await a.put(key, 'y');
        await a.put(clock, 'x', { ttlMs: 50 });
        await vi.waitFor(async () => expect(await a.get(clock)).toBeUndefined(), 10_000);
        expect((await a.get(key))?.value).toBe('y');
      });

      it('lists keys by a prefix, whose characters have no special meaning', async () => {
        const suffixes = [
          'a%b',
          'a_b',
          'a*b',
          'a?b',
          'a[b]',
          String.raw`a\b`,
          'A%b',
          'axb',
          "a'b",
          'a"b',
          'ä',
          'a{b}:c',
        ];
        for (const suffix of suffixes) await a.put(own(suffix), 'x');
        expect((await b.keys(own(''))).toSorted()).toEqual(suffixes.map(own).toSorted());
        for (const prefix of ['a%', 'a_', 'a*', 'a?', 'a[', 'a\\', "a'", 'a"', 'a', 'ä', 'z', 'a{b}']) {
          const expected = suffixes.filter((suffix) => suffix.startsWith(prefix)).map(own);
          expect((await b.keys(own(prefix))).toSorted(), prefix).toEqual(expected.toSorted());
        }
      });
    });

    describe('texts', () => {
      it.each([
        ['an empty text', ''],
        ['Unicode', 'Grüße, 世界 👩‍👩‍👧 \u202E \uFEFF'],
        ['line breaks and quotes', 'a\r\nb\t"\'\\`; DROP TABLE x; --'],
        ['JSON', JSON.stringify({ text: '\0 \uD800' })],
        ['text that looks like a number', '007'],
      ])('returns %s unchanged', async (_kind, text) => {
        const key = own(`key ${text}`);
        await a.put(key, text);
        expect((await b.get(key))?.value).toBe(text);
        await a.append(key, text);
        expect((await b.read(key)).map(({ value }) => value)).toEqual([text]);
        const { received } = await listen(b, key);
        await a.publish(key, text);
        await vi.waitFor(() => expect(received).toEqual([text]), 10_000);
      });

      it('returns a megabyte unchanged', async () => {
        const text = 'Größe 1 MB. '.repeat(90_000);
        await a.put(own('big'), text);
        expect((await b.get(own('big')))?.value === text).toBe(true);
        await a.append(own('big'), text);
        expect((await b.read(own('big')))[0]?.value === text).toBe(true);
        const { received } = await listen(b, own('big'));
        await a.publish(own('big'), text);
        await vi.waitFor(() => expect(received.length).toBe(1), 10_000);
        expect(received[0] === text).toBe(true);
      });

      it('rejects texts that a database would change, and invalid names', async () => {
        const long = 'ä'.repeat(800);
        await a.put(long, 'x', { ttlMs: minute });
        expect((await a.get(long))?.value).toBe('x');
        for (const text of ['\0', 'x\uD800', 1 as never, null as never, undefined as never]) {
          await expectCode(a.put(own('record'), text), 'SHARED_STORE_ARGUMENT_INVALID');
          await expectCode(a.append(own('log'), text), 'SHARED_STORE_ARGUMENT_INVALID');
          await expectCode(a.publish(own('channel'), text), 'SHARED_STORE_ARGUMENT_INVALID');
        }
        for (const bad of ['', `${long}x`, '\0', 'x\uDC00', 1 as never, undefined as never])
          for (const call of callsOf(a, bad)) await expectCode(call(), 'SHARED_STORE_ARGUMENT_INVALID');
      });

      it('rejects invalid numbers', async () => {
        for (const number of [-1, NaN, Infinity, 0, '5' as never]) {
          await expectCode(a.put(own('x'), 'x', { ttlMs: number }), 'SHARED_STORE_ARGUMENT_INVALID');
          await expectCode(a.append(own('x'), 'x', { ttlMs: number }), 'SHARED_STORE_ARGUMENT_INVALID');
          await expectCode(a.append(own('x'), 'x', { maxEntries: number }), 'SHARED_STORE_ARGUMENT_INVALID');
          await expectCode(a.take(own('x'), number, { capacity: 1, perSecond: 1 }), 'SHARED_STORE_ARGUMENT_INVALID');
          await expectCode(a.take(own('x'), 1, { capacity: number, perSecond: 1 }), 'SHARED_STORE_ARGUMENT_INVALID');
          await expectCode(a.take(own('x'), 1, { capacity: 1, perSecond: number }), 'SHARED_STORE_ARGUMENT_INVALID');
        }
        for (const version of [-1, 1.5, NaN, '1' as never])
          await expectCode(a.put(own('x'), 'x', { version }), 'SHARED_STORE_ARGUMENT_INVALID');
        expect(await a.get(own('x'))).toBeUndefined();
        expect(await a.read(own('x'))).toEqual([]);
      });
    });

    describe('logs', () => {
      it('reads entries in order, from the start and after one', async () => {
        const log = own('log');
        const ids: string[] = [];
        for (const value of ['one', 'two', 'three']) ids.push(await a.append(log, value));
        const entries = ['one', 'two', 'three'].map((value, place) => ({ id: ids[place], value }));
        expect(await b.read(log)).toEqual(entries);
        expect(await b.read(log, ids[0])).toEqual(entries.slice(1));
        expect(await b.read(log, ids[2])).toEqual([]);
        expect(await b.read(own('other'))).toEqual([]);
      });

      it('keeps the entries of concurrent writers, in one order for all readers', async () => {
        const log = own('log');
        const ids = await turns((store, turn) => store.append(log, String(turn)));
        const entries = await a.read(log);
        expect(new Set(entries.map(({ id }) => id))).toEqual(new Set(ids));
        expect(entries.map(({ value }) => Number(value)).toSorted((x, y) => x - y)).toEqual([...ids.keys()]);
        expect(await b.read(log)).toEqual(entries);
        for (const [place, { id }] of entries.entries())
          expect(await b.read(log, id)).toEqual(entries.slice(place + 1));
      });

      it('rejects an unknown id, whatever it contains', async () => {
        const log = own('log');
        const id = await a.append(log, 'x');
        const other = await a.append(own('other'), 'x');
        const unknown = [
          '',
          '0',
          '0-0',
          '-',
          '+',
          '$',
          '*',
          `0${id}`,
          `${id} `,
          `${id}'`,
          '9'.repeat(40),
          '9-9',
          '\0',
          '١',
        ];
        for (const after of unknown) await expectCode(b.read(log, after), 'SHARED_STORE_ENTRY_NOT_FOUND');
        if (other !== id) await expectCode(b.read(log, other), 'SHARED_STORE_ENTRY_NOT_FOUND');
        await expectCode(b.read(own('none'), id), 'SHARED_STORE_ENTRY_NOT_FOUND');
      });

      it('keeps the newest entries of a limited log', async () => {
        const log = own('log');
        const ids: string[] = [];
        for (let n = 0; n < 5; n += 1) ids.push(await a.append(log, String(n), { maxEntries: 3 }));
        expect((await b.read(log)).map(({ value }) => value)).toEqual(['2', '3', '4']);
        await expectCode(b.read(log, ids[1]), 'SHARED_STORE_ENTRY_NOT_FOUND');
        expect((await b.read(log, ids[2])).map(({ value }) => value)).toEqual(['3', '4']);
        await turns((store, turn) => store.append(log, `c${turn}`, { maxEntries: 3 }));
        expect(await b.read(log)).toHaveLength(3);
      });

      it('ends a log at the end of its lifetime, and gives a new one other ids', async () => {
        const log = own('log');
        await a.append(log, 'one', { ttlMs: minute });
        const old = await a.append(log, 'two', { ttlMs: 20 });
        await vi.waitFor(async () => expect(await b.read(log)).toEqual([]), 10_000);
        await expectCode(b.read(log, old), 'SHARED_STORE_ENTRY_NOT_FOUND');
        const id = await b.append(log, 'three');
        expect(await a.read(log)).toEqual([{ id, value: 'three' }]);
        await expectCode(a.read(log, old), 'SHARED_STORE_ENTRY_NOT_FOUND');
      });

      it('counts the lifetime from the newest entry', async () => {
        const log = own('log');
        await a.append(log, 'one', { ttlMs: 20 });
        const id = await a.append(log, 'two', { ttlMs: minute });
        // The first entry may have ended with the log before the second one began it again.
        expect((await b.read(log)).at(-1)).toEqual({ id, value: 'two' });
        await a.put(own('clock'), 'x', { ttlMs: 40 });
        await vi.waitFor(async () => expect(await a.get(own('clock'))).toBeUndefined(), 10_000);
        expect((await b.read(log)).at(-1)).toEqual({ id, value: 'two' });
      });
    });

    describe('channels', () => {
      it('delivers the messages of each sender in order to the listeners of all stores', async () => {
        const channel = own('channel');
        const listeners = [await listen(a, channel), await listen(a, channel), await listen(b, channel)];
        const other = await listen(b, own('other'));
        await Promise.all([
          ...Array.from({ length: 50 }, (_, n) => a.publish(channel, `a${n}`)),
          ...Array.from({ length: 50 }, (_, n) => b.publish(channel, `b${n}`)),
        ]);
        for (const { received } of listeners) {
          await vi.waitFor(() => expect(received).toHaveLength(100), 10_000);
          for (const sender of ['a', 'b'])
            expect(received.filter((message) => message.startsWith(sender))).toEqual(
              Array.from({ length: 50 }, (_, n) => `${sender}${n}`),
            );
        }
        expect(other.received).toEqual([]);
      });

      it('delivers nothing that was published before, and nothing after the end of the subscription', async () => {
        const channel = own('channel');
        await a.publish(channel, 'early');
        const first = await listen(b, channel);
        const second = await listen(b, channel);
        await a.publish(channel, 'one');
        await vi.waitFor(() => expect(first.received).toEqual(['one']), 10_000);
        await first.end();
        await first.end();
        await a.publish(channel, 'two');
        await vi.waitFor(() => expect(second.received).toEqual(['one', 'two']), 10_000);
        expect(first.received).toEqual(['one']);
        await second.end();
        const third = await listen(b, channel);
        await a.publish(channel, 'three');
        await vi.waitFor(() => expect(third.received).toEqual(['three']), 10_000);
        expect(second.received).toEqual(['one', 'two']);
      });

      it('delivers to the other listeners when one throws', async () => {
        const warn = vi.spyOn(getDefaultLogger(), 'warn').mockImplementation(() => {});
        const channel = own('channel');
        await b.subscribe(channel, () => {
          throw new Error('Thrown by a test.');
        });
        const { received } = await listen(b, channel);
        await a.publish(channel, 'one');
        await a.publish(channel, 'two');
        await vi.waitFor(() => expect(received).toEqual(['one', 'two']), 10_000);
        expect(warn.mock.calls.flat()).toContainEqual(expect.stringContaining('Thrown by a test.'));
        warn.mockRestore();
      });

      it('delivers nothing to a subscription that an earlier listener has just ended', async () => {
        const channel = own('channel');
        const ends: (() => Promise<void>)[] = [];
        let received = '';
        await b.subscribe(channel, () => void ends.map((end) => end()));
        ends.push(await b.subscribe(channel, (message) => void (received += message)));
        const last = await listen(b, channel);
        await a.publish(channel, 'one');
        await vi.waitFor(() => expect(last.received).toEqual(['one']), 10_000);
        expect(received).toBe('');
      });

      it('delivers to a function once per subscription', async () => {
        const received: string[] = [];
        const listener = (message: string): void => void received.push(message);
        const end = await b.subscribe(own('channel'), listener);
        await b.subscribe(own('channel'), listener);
        await a.publish(own('channel'), 'one');
        await vi.waitFor(() => expect(received).toEqual(['one', 'one']), 10_000);
        await end();
        await a.publish(own('channel'), 'two');
        await vi.waitFor(() => expect(received).toEqual(['one', 'one', 'two']), 10_000);
      });

      it('subscribes and ends at the same time', async () => {
        const channel = own('channel');
        const many = await Promise.all(Array.from({ length: 5 }, () => listen(b, channel)));
        const [last] = await Promise.all([listen(b, channel), ...many.map(({ end }) => end())]);
        await a.publish(channel, 'one');
        await vi.waitFor(() => expect(last.received).toEqual(['one']), 10_000);
      });

      it('delivers a message larger than a notification of PostgreSQL', async () => {
        const { received } = await listen(b, own('channel'));
        const message = '0123456789'.repeat(900);
        await a.publish(own('channel'), message);
        await vi.waitFor(() => expect(received).toEqual([message]), 10_000);
      });
    });

    describe('buckets', () => {
      it('never gives more than the capacity to concurrent takers', async () => {
        // The bucket is refilled so slowly that no token is added during the test.
        const bucket = { capacity: 7, perSecond: 0.0001 };
        const waits = await turns((store) => store.take(own('bucket'), 1, bucket));
        expect(waits.filter((wait) => wait === 0)).toHaveLength(7);
        for (const wait of waits.filter((time) => time > 0)) {
          expect(Number.isInteger(wait)).toBe(true);
          expect(wait).toBeLessThanOrEqual(10_000_000);
          expect(wait).toBeGreaterThan(5_000_000);
        }
      });

      it('takes all or nothing', async () => {
        const bucket = { capacity: 10, perSecond: 0.0001 };
        expect(await a.take(own('bucket'), 8, bucket)).toBe(0);
        expect(await b.take(own('bucket'), 3, bucket)).toBeGreaterThan(5_000_000);
        expect(await b.take(own('bucket'), 2, bucket)).toBe(0);
        expect(await a.take(own('other'), 10, bucket)).toBe(0);
      });

      it('takes parts of a token', async () => {
        const bucket = { capacity: 1, perSecond: 0.0001 };
        for (const amount of [0.25, 0.5, 0.25]) expect(await a.take(own('bucket'), amount, bucket)).toBe(0);
        expect(await a.take(own('bucket'), 0.25, bucket)).toBeGreaterThan(1_000_000);
      });

      it('refills the bucket', async () => {
        const bucket = { capacity: 2, perSecond: 50 };
        await a.take(own('bucket'), 2, bucket);
        for (let n = 0; n < 3; n += 1)
          await vi.waitFor(async () => expect(await b.take(own('bucket'), 2, bucket)).toBe(0), 10_000);
      });

      it('rejects an amount above the capacity', async () => {
        await expectCode(a.take(own('x'), 2, { capacity: 1, perSecond: 1 }), 'SHARED_STORE_ARGUMENT_INVALID');
      });
    });

    describe('closed', () => {
      it('rejects every call, and delivers nothing', async () => {
        const store = await create();
        if (store === a) return;
        const { received, end } = await listen(store, own('channel'));
        await store.close();
        await store.close();
        await end();
        for (const call of callsOf(store, own('x'))) await expectCode(call(), 'SHARED_STORE_CLOSED');
        const { received: others } = await listen(b, own('channel'));
        await a.publish(own('channel'), 'one');
        await vi.waitFor(() => expect(others).toEqual(['one']), 10_000);
        expect(received).toEqual([]);
      });
    });

    describe.skipIf(!createUnavailable)('unavailable', () => {
      it('rejects every call', async () => {
        const store = (await createUnavailable?.()) as SharedStore;
        const calls = callsOf(store, own('x'));
        await Promise.all(calls.map((call) => expectCode(call(), 'SHARED_STORE_UNAVAILABLE')));
        await store.close();
      });
    });
  });
}

/** Calls of all methods with a name. */
function callsOf(store: SharedStore, name: string): (() => Promise<unknown>)[] {
  return [
    () => store.get(name),
    () => store.put(name, 'x'),
    () => store.delete(name),
    // Every key begins with an empty prefix.
    ...(name === '' ? [] : [() => store.keys(name)]),
    () => store.append(name, 'x'),
    () => store.read(name),
    () => store.publish(name, 'x'),
    () => store.subscribe(name, () => {}),
    () => store.take(name, 1, { capacity: 1, perSecond: 1 }),
  ];
}

async function listen(store: SharedStore, channel: string): Promise<{ received: string[]; end: () => Promise<void> }> {
  const received: string[] = [];
  const end = await store.subscribe(channel, (message) => received.push(message));
  return { received, end };
}

async function expectCode(running: Promise<unknown>, code: string): Promise<void> {
  await expect(running).rejects.toMatchObject({ code });
}
