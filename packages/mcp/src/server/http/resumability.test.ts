import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { connectV1 } from '../../../test/clients/real-clients.ts';
import { messagesOf, readEvents, type EventReader } from '../../../test/clients/event-reader.ts';
import { initializeParams, openSession, rpc, send } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import type { EventStore } from './event-store.js';
import { InMemoryEventStore } from './event-store.js';

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const tools = {
  polling: toolOf('polling', async (_input, { mcp }) => {
    await mcp.log('info', 'before');
    mcp.extra?.closeSSEStream?.();
    await wait(100);
    await mcp.log('info', 'meanwhile');
    return 'worth the wait';
  }),
  counting: toolOf('counting', async (_input, { mcp }) => {
    for (let number = 0; number < 20; number += 1) {
      await mcp.log('info', `step ${number}`);
      await wait(5);
    }
    return 'counted';
  }),
};

let server: MCPServer;
beforeEach(() => {
  server = new MCPServer({ name: 'Resumable', version: '1.0.0', tools });
});
afterEach(() => server.close());

const call = (name: string, id: string | number = 7): object => rpc('tools/call', { name, arguments: {} }, id);
const lastId = ({ events }: EventReader): string => events.at(-1)?.id as string;

/** Opens a session of 2025-06-18, whose clients accept no event without data. */
async function openOlderSession(url: string): Promise<Record<string, string>> {
  const body = rpc('initialize', { ...initializeParams, protocolVersion: '2025-06-18' });
  return { 'mcp-session-id': String((await send(url, { body })).headers['mcp-session-id']) };
}

/** Store with random delays. Events must not be sent before they are stored. */
function slow(store: EventStore): EventStore {
  return {
    storeEvent: async (streamId, message) => {
      await wait(Math.random() * 4);
      return store.storeEvent(streamId, message);
    },
    replayEventsAfter: async (lastEventId, options) => {
      await wait(Math.random() * 4);
      return store.replayEventsAfter(lastEventId, options);
    },
  };
}

describe('with an event store', () => {
  test('resumes a stream that a tool closed, and receives the result', async () => {
    const { url } = await server.listen({ eventStore: new InMemoryEventStore(), retryInterval: 50 });
    const session = await openSession(url);
    const first = await readEvents(url, { method: 'POST', headers: session, body: call('polling') });
    await first.ended;
    expect(first.events[0]).toMatchObject({ id: `${session['mcp-session-id']}/1_0`, retry: '50', data: '' });
    expect(messagesOf(first).map(({ params }) => params?.data)).toEqual(['before']);
    const second = await readEvents(url, { headers: { ...session, 'last-event-id': lastId(first) } });
    await second.ended;
    // A client that loses this stream before its first message resumes after the same event.
    expect(second.events[0]).toMatchObject({ id: lastId(first), data: '' });
    expect(messagesOf(second)).toMatchObject([
      { params: { data: 'meanwhile' } },
      { id: 7, result: { content: [{ text: 'worth the wait' }] } },
    ]);
  });

  test.each([
    ['fast', (store: EventStore) => store],
    ['slow', slow],
  ])('a connection that breaks at any point costs no message and repeats none (%s store)', async (_name, wrap) => {
    const { url } = await server.listen({ eventStore: wrap(new InMemoryEventStore()) });
    const session = await openSession(url);
    const seen: unknown[] = [];
    let reader = await readEvents(url, { method: 'POST', headers: session, body: call('counting') });
    let last = '';
    for (let breaks = 0; ; breaks += 1) {
      const isOver = await Promise.race([
        reader.ended.then(() => true),
        wait(breaks === 0 ? 30 : 20).then(() => false),
      ]);
      if (!isOver) reader.destroy();
      await reader.ended;
      for (const event of reader.events) {
        last = event.id as string;
        if (event.data !== '') seen.push(JSON.parse(event.data));
      }
      if (isOver || breaks > 50) break;
      await wait(10);
      reader = await readEvents(url, { headers: { ...session, 'last-event-id': last } });
      expect(reader.status).toBe(200);
    }
    const texts = seen.map((message) => (message as { params?: { data?: string } }).params?.data ?? 'answer');
    expect(texts).toEqual([...Array.from({ length: 20 }, (_, number) => `step ${number}`), 'answer']);
  });

  test('replays a result that was complete before the client resumed', async () => {
    const { url } = await server.listen({ eventStore: new InMemoryEventStore() });
    const session = await openSession(url);
    const first = await readEvents(url, { method: 'POST', headers: session, body: call('counting') });
    await expect.poll(() => first.events.length).toBeGreaterThan(2);
    const last = lastId(first);
    first.destroy();
    await wait(300);
    const second = await readEvents(url, { headers: { ...session, 'last-event-id': last } });
    await second.ended;
    expect(messagesOf(second).at(-1)).toMatchObject({ id: 7, result: { content: [{ text: 'counted' }] } });
  });

  test.each([true, false])(
    'the events of another session do not exist (store that knows streams: %s)',
    async (knows) => {
      const store = new InMemoryEventStore();
      const eventStore: EventStore = knows
        ? store
        : {
            storeEvent: (streamId, message) => store.storeEvent(streamId, message),
            replayEventsAfter: (lastEventId, options) => store.replayEventsAfter(lastEventId, options),
          };
      const { url } = await server.listen({ eventStore });
      const mine = await openSession(url);
      const other = await openSession(url);
      const first = await readEvents(url, { method: 'POST', headers: mine, body: call('polling') });
      await first.ended;
      for (const eventId of [lastId(first), 'nonsense', `${other['mcp-session-id']}/9_9`]) {
        const answer = await send(url, {
          method: 'GET',
          headers: { ...other, accept: 'text/event-stream', 'last-event-id': eventId },
        });
        expect(answer.status).toBe(400);
        expect(answer.text).not.toContain('wait');
      }
    },
  );

  test("messages on a session's own stream survive a broken connection", async () => {
    const { url } = await server.listen({ eventStore: new InMemoryEventStore(), enableJsonResponse: true });
    const session = await openSession(url);
    const first = await readEvents(url, { headers: session });
    await expect.poll(() => first.events.length).toBe(1);
    expect((await send(url, { headers: session, body: call('counting') })).json.result).toBeDefined();
    await expect.poll(() => messagesOf(first).length).toBe(20);
    const last = first.events[10]?.id as string;
    first.destroy();
    await first.ended;
    await wait(20);
    const second = await readEvents(url, { headers: { ...session, 'last-event-id': last } });
    await expect.poll(() => messagesOf(second).length).toBe(10);
    expect((await send(url, { headers: session, body: call('counting') })).json.result).toBeDefined();
    await expect.poll(() => messagesOf(second).length).toBe(30);
    second.destroy();
  });

  test('revisions before 2025-11-25 get no event without data', async () => {
    const { url } = await server.listen({ eventStore: new InMemoryEventStore() });
    const session = await openOlderSession(url);
    const reader = await readEvents(url, { method: 'POST', headers: session, body: call('counting') });
    await reader.ended;
    expect(reader.events.filter(({ data }) => data === '')).toEqual([]);
    expect(reader.events[0]?.id).toMatch(/_0$/);
  });

  test('sends the headers of a quiet stream that a client of 2025-06-18 resumes', async () => {
    const { url } = await server.listen({ eventStore: new InMemoryEventStore() });
    const session = await openOlderSession(url);
    const first = await readEvents(url, { headers: session });
    await server.toolActions.notifyListChanged();
    await expect.poll(() => messagesOf(first)).toHaveLength(1);
    first.destroy();
    await first.ended;
    const resume = (): Promise<EventReader> =>
      readEvents(url, { headers: { ...session, 'last-event-id': lastId(first) } });
    // The server may notice the end of the first reader later.
    await expect.poll(async () => (await resume()).status).toBe(200);
  });

  const throws = (): never => {
    throw new Error('the disk is full');
  };
  test.each<[string, () => never | Promise<never>]>([
    ['rejects', async () => throws()],
    ['throws', throws],
  ])('a store that %s loses no message', async (_how, fail) => {
    const errors: unknown[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) };
    const failing = new MCPServer({ name: 'Failing', version: '1.0.0', tools, logger });
    const eventStore: EventStore = {
      storeEvent: fail as EventStore['storeEvent'],
      replayEventsAfter: fail as EventStore['replayEventsAfter'],
    };
    const { url } = await failing.listen({ eventStore });
    const session = await openSession(url);
    const reader = await readEvents(url, { method: 'POST', headers: session, body: call('counting') });
    await reader.ended;
    expect(messagesOf(reader)).toHaveLength(21);
    const resumed = await send(url, { method: 'GET', headers: { ...session, 'last-event-id': 'a_1' } });
    expect(resumed.status).toBe(400);
    expect(String(errors[0])).toContain('the disk is full');
    await failing.close();
  });

  test('a store that cannot replay ends the stream, and keeps no reader', async () => {
    const store = new InMemoryEventStore();
    let fails = false;
    const eventStore: EventStore = {
      storeEvent: (streamId, message) => store.storeEvent(streamId, message),
      getStreamIdForEventId: (eventId) => store.getStreamIdForEventId(eventId),
      replayEventsAfter: (eventId, options) =>
        fails ? Promise.reject(new Error('store is down')) : store.replayEventsAfter(eventId, options),
    };
    const { url } = await server.listen({ eventStore });
    const session = await openSession(url);
    const own = await readEvents(url, { headers: session });
    await expect.poll(() => own.events.length).toBe(1);
    own.destroy();
    const answered = await readEvents(url, { method: 'POST', headers: session, body: call('counting') });
    await answered.ended;
    for (const lastEventId of [lastId(own), answered.events[1]?.id as string]) {
      const headers = { ...session, 'last-event-id': lastEventId };
      fails = true;
      const broken = await readEvents(url, { headers });
      await broken.ended;
      fails = false;
      const resumed = await readEvents(url, { headers });
      expect(resumed.status).toBe(200);
      resumed.destroy();
    }
  });

  test('distinguishes custom session ids with a common beginning', async () => {
    const ids = ['a', 'a/own'];
    const { url } = await server.listen({
      eventStore: new InMemoryEventStore(),
      sessionIdGenerator: () => ids.shift() as string,
    });
    const short = await openSession(url);
    const foreign = await readEvents(url, { method: 'POST', headers: await openSession(url), body: call('counting') });
    await foreign.ended;
    const stolen = await send(url, {
      method: 'GET',
      headers: { ...short, 'last-event-id': foreign.events[1]?.id as string },
    });
    expect(stolen.status).toBe(400);
  });

  test('a client of the official SDK comes back by itself', async () => {
    const { url } = await server.listen({ eventStore: new InMemoryEventStore(), retryInterval: 20 });
    const client = await connectV1(new StreamableHTTPClientTransport(new URL(url)));
    expect(await client.callTool({ name: 'polling' })).toMatchObject({ content: [{ text: 'worth the wait' }] });
    await client.close();
  });
});

test('ignores closeSSEStream without an event store, and sends the result on the stream', async () => {
  const { url } = await server.listen();
  const reader = await readEvents(url, { method: 'POST', headers: await openSession(url), body: call('polling') });
  await reader.ended;
  expect(messagesOf(reader).at(-1)).toMatchObject({ result: { content: [{ text: 'worth the wait' }] } });
  expect(reader.events.every(({ id }) => id === undefined)).toBe(true);
});

test('sends JSON responses with enableJsonResponse, also after messages', async () => {
  const { url } = await server.listen({ enableJsonResponse: true });
  const answer = await send(url, { headers: await openSession(url), body: call('counting') });
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.json.result.content[0].text).toBe('counted');
});
