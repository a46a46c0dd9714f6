import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { InMemoryStore } from '../../shared-store/in-memory-store.js';
import { Instance } from '../../shared-store/instance.js';
import type { SharedStore } from '../../shared-store/shared-store.js';
import { SharedEventStore } from './shared-event-store.js';

const ignore = (): void => {};
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const store = new InMemoryStore();
const events = new SharedEventStore(new Instance({ store, server: 'Streams', logger }), 3_600_000);

let ended: AbortController;
beforeEach(() => {
  ended = new AbortController();
  vi.useFakeTimers();
});
afterEach(() => {
  ended.abort();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Opens a stream and returns what it receives. */
async function follow(streamId: string): Promise<unknown[]> {
  const received: unknown[] = [];
  const start = await events.storeEvent(streamId, {});
  const send = (_id: string, message: unknown): void => void received.push(message);
  void events.follow(start, { send, signal: ended.signal, writer: undefined });
  await vi.advanceTimersByTimeAsync(0);
  return received;
}

test('a quiet stream is seldom read', async () => {
  const read = vi.spyOn(store, 'read');
  const received = await follow('a/own');
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(read.mock.calls.length).toBeLessThan(20);
  await events.storeEvent('a/own', { number: 1 });
  await vi.advanceTimersByTimeAsync(0);
  expect(received).toEqual([{ number: 1 }]);
});

test('an event whose message is lost arrives a minute later at most, and soon after another event', async () => {
  const received = await follow('b/own');
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  const publish = vi.spyOn(store, 'publish').mockResolvedValue();
  await events.storeEvent('b/own', { number: 1 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(received).toHaveLength(1);
  publish.mockRestore();
  await events.storeEvent('b/own', { number: 2 });
  await vi.advanceTimersByTimeAsync(0);
  vi.spyOn(store, 'publish').mockResolvedValue();
  await events.storeEvent('b/own', { number: 3 });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(received).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
});

test('an event arrives at once when the store reports that its message may have been missed', async () => {
  const subscribe = vi.spyOn(store, 'subscribe');
  const received = await follow('c/own');
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  vi.spyOn(store, 'publish').mockResolvedValue();
  await events.storeEvent('c/own', { number: 1 });
  const [, , onGap] = subscribe.mock.calls[0] as Parameters<SharedStore['subscribe']>;
  onGap?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(received).toEqual([{ number: 1 }]);
});

test.each(['{"jsonrpc":', '"text"', '7', '[]'])('the event %s of another program is refused', async (value) => {
  const streamId = `forged ${value}/own`;
  const start = await events.storeEvent(streamId, {});
  await store.append(`events/Streams/${streamId}`, value);
  const send = vi.fn();
  const refused = expect.objectContaining({ code: 'EVENT_RECORD_INVALID' });
  await expect(events.follow(start, { send, signal: ended.signal, writer: undefined })).rejects.toThrow(refused);
  expect(send).not.toHaveBeenCalled();
});

test('knows the error of a store that belongs to another copy of the package', async () => {
  vi.resetModules();
  const { QuiverError } = await import('@quiver/core');
  vi.spyOn(store, 'read').mockRejectedValue(new QuiverError('SHARED_STORE_ENTRY_NOT_FOUND', 'It is gone.'));
  expect(await events.getStreamIdForEventId('d/own_1')).toBeUndefined();
});
