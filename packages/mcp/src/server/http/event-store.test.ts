import { array, assert, asyncProperty, constantFrom } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InMemoryEventStore } from './event-store.js';

async function replayed(store: InMemoryEventStore, lastEventId: string) {
  const ids: string[] = [];
  const messages: unknown[] = [];
  await store.replayEventsAfter(lastEventId, {
    send: async (id, message: unknown) => {
      ids.push(id);
      messages.push(message);
    },
  });
  return { ids, messages };
}

describe('InMemoryEventStore', () => {
  test('replays what came after an event, of its stream only and in order', async () => {
    const stream = constantFrom('session/1', 'session/2', 'session_1/own', 'other/1');
    await assert(
      asyncProperty(array(stream, { maxLength: 60 }), async (streamIds) => {
        const store = new InMemoryEventStore();
        const stored: { streamId: string; id: string; number: number }[] = [];
        for (const [number, streamId] of streamIds.entries()) {
          stored.push({ streamId, number, id: await store.storeEvent(streamId, { number }) });
        }
        for (const [index, { streamId, id }] of stored.entries()) {
          const rest = stored.slice(index + 1).filter((event) => event.streamId === streamId);
          expect(id.startsWith(`${streamId}_`)).toBe(true);
          expect(await store.getStreamIdForEventId(id)).toBe(streamId);
          expect(await replayed(store, id)).toEqual({
            ids: rest.map((event) => event.id),
            messages: rest.map(({ number }) => ({ number })),
          });
        }
      }),
    );
  });

  test('keeps at most maxEvents, forgets the oldest and never repeats an id', async () => {
    const store = new InMemoryEventStore({ maxEvents: 100 });
    const ids: string[] = [];
    for (let number = 0; number < 1_000; number += 1) ids.push(await store.storeEvent('a/1', { number }));
    expect(store.size).toBe(100);
    expect(new Set(ids).size).toBe(1_000);
    await expect(replayed(store, ids[0] as string)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' });
    await expect(replayed(store, ids[899] as string)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' });
    expect((await replayed(store, ids[900] as string)).messages).toHaveLength(99);
  });

  test('keeps at most maxCharacters, but always the newest event', async () => {
    const store = new InMemoryEventStore({ maxCharacters: 1_000 });
    for (let number = 0; number < 50; number += 1) await store.storeEvent('a/1', 'x'.repeat(98));
    expect(store.size).toBe(10);
    const id = await store.storeEvent('a/1', 'x'.repeat(5_000));
    expect(store.size).toBe(1);
    expect(await store.getStreamIdForEventId(id)).toBe('a/1');
  });

  test.each([
    '',
    '_',
    'a/1',
    'a/1_',
    'a/1_x',
    'a/1_-1',
    'a/1_99',
    'a/1_1e0',
    'b/1_0',
    '__proto__',
    `a/1_${'9'.repeat(400)}`,
  ])('does not know the event %j', async (eventId) => {
    const store = new InMemoryEventStore();
    await store.storeEvent('a/1', {});
    expect(await store.getStreamIdForEventId(eventId)).toBeUndefined();
    await expect(replayed(store, eventId)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' });
  });
});
