import { createTool } from '@quiver/core/tools';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { eventually } from '../../../test/eventually.ts';
import { createFullServer } from '../../../test/servers/full-server.ts';
import { messagesOf, readEvents, type EventReader } from '../../../test/clients/event-reader.ts';
import { modern, openSession, rpc, send } from '../../../test/clients/wire.ts';
import type { MCPServer } from '../mcp-server.js';

async function serve(config: Parameters<typeof createFullServer>[0] = {}): Promise<{ server: MCPServer; url: string }> {
  const server = createFullServer(config);
  afterTest(() => server.close({ grace: 200 }));
  const { url } = await server.listen({ shutdownGrace: 200 });
  return { server, url };
}

/** Opens a subscription, and waits for its acknowledgment. */
async function listen(url: string, notifications: unknown, id: string | number = 'sub'): Promise<EventReader> {
  const reader = await readEvents(url, {
    method: 'POST',
    ...modern('subscriptions/listen', { notifications }, id),
  } as Parameters<typeof readEvents>[1]);
  afterTest(() => reader.destroy());
  await eventually(() => expect(messagesOf(reader).length).toBeGreaterThan(0));
  return reader;
}

test('rejects the request where responses are JSON only', async () => {
  const { server } = await serve();
  const { url } = await server.listen({ enableJsonResponse: true, shutdownGrace: 200 });
  const request = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const { status, json } = await send(url, request);
  expect([status, json.error.code]).toEqual([404, -32601]);
});

const subscriptionId = 'io.modelcontextprotocol/subscriptionId';

describe('subscriptions/listen', () => {
  test('acknowledges the supported part of the filter first; events carry the id of the request', async () => {
    const { server, url } = await serve();
    const filter = { promptsListChanged: true, toolsListChanged: false, resourceSubscriptions: ['note://a'] };
    const reader = await listen(url, filter, 7);
    await server.toolActions.notifyListChanged();
    await server.resources.notifyUpdated({ uri: 'note://b' });
    await server.resources.notifyUpdated({ uri: 'note://a' });
    await server.prompts.notifyListChanged();
    await eventually(() => expect(messagesOf(reader)).toHaveLength(3));
    const _meta = { [subscriptionId]: 7 };
    expect(messagesOf(reader)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { promptsListChanged: true, resourceSubscriptions: ['note://a'] }, _meta },
      },
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note://a', _meta } },
      { jsonrpc: '2.0', method: 'notifications/prompts/list_changed', params: { _meta } },
    ]);
  });

  test('ends with a result when the server closes, without a delay', async () => {
    const { server, url } = await serve();
    const reader = await listen(url, { toolsListChanged: true });
    await server.close({ grace: 300_000 });
    await reader.ended;
    expect(messagesOf(reader).at(-1)).toMatchObject({
      id: 'sub',
      result: { resultType: 'complete', _meta: { [subscriptionId]: 'sub' } },
    });
  });

  test('ends at once when the filter is empty', async () => {
    const { url } = await serve({ resources: undefined as never, prompts: undefined as never });
    const reader = await listen(url, { promptsListChanged: true, resourceSubscriptions: ['note://a'] });
    await reader.ended;
    expect(messagesOf(reader)).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
      { id: 'sub', result: { resultType: 'complete' } },
    ]);
  });

  test.each([undefined, null, [], 'x', { toolsListChanged: 1 }, { resourceSubscriptions: [1] }])(
    'the filter %j is refused with -32602',
    async (notifications) => {
      const { url } = await serve();
      const answer = await send(url, modern('subscriptions/listen', { notifications }));
      expect(answer.json.error.code).toBe(-32602);
    },
  );

  test('a listener that went away is forgotten', async () => {
    const { server, url } = await serve();
    for (let count = 0; count < 20; count += 1) {
      const reader = await listen(url, { toolsListChanged: true }, count);
      reader.destroy();
    }
    const last = await listen(url, { toolsListChanged: true }, 'last');
    await server.toolActions.notifyListChanged();
    await eventually(() => expect(messagesOf(last)).toHaveLength(2));
  });
});

describe('the event bus', () => {
  test('of the official SDK carries changes from one instance to the clients of another', async () => {
    const eventBus = new InMemoryServerEventBus();
    const one = await serve({ eventBus });
    const two = await serve({ eventBus });
    const reader = await listen(two.url, { resourceSubscriptions: ['note://a'] });
    await one.server.resources.notifyUpdated({ uri: 'note://a' });
    await eventually(() => expect(messagesOf(reader)).toHaveLength(2));
  });

  test('delivers only changes when other programs use it too', async () => {
    const eventBus = new InMemoryServerEventBus();
    const { url } = await serve({ eventBus });
    const headers = await openSession(url);
    const reader = await readEvents(url, { headers });
    afterTest(() => reader.destroy());
    eventBus.publish({ kind: 'users_list_changed' } as never);
    eventBus.publish({ kind: 'prompts_list_changed' });
    await eventually(() => expect(messagesOf(reader)).toHaveLength(1));
    expect(messagesOf(reader)).toMatchObject([{ method: 'notifications/prompts/list_changed' }]);
  });

  test('a bus that outlives a server is left by it', async () => {
    const eventBus = new InMemoryServerEventBus();
    const { server } = await serve({ eventBus });
    expect(eventBus.listenerCount).toBe(1);
    await server.close();
    expect(eventBus.listenerCount).toBe(0);
  });
});

describe('the order of notifications', () => {
  const updated = 'notifications/resources/updated';
  const changed = 'notifications/tools/list_changed';

  /** Serves resources that callers see by their scopes, so that a callback decides which readers an update concerns. */
  async function serveSlow(): Promise<{ server: MCPServer; readers: EventReader[]; state: { delay: number } }> {
    const state = { delay: 0 };
    const { server, url } = await serve({
      visible: () => true,
      resources: {
        listResources: async () => {
          if (state.delay > 0) await new Promise((resolve) => setTimeout(resolve, state.delay).unref());
          return [{ uri: 'note://a', name: 'a' }];
        },
        getResourceContent: async () => ({ text: 'A' }),
      },
    });
    const headers = await openSession(url);
    await send(url, { headers, body: rpc('resources/subscribe', { uri: 'note://a' }) });
    const session = await readEvents(url, { headers });
    afterTest(() => session.destroy());
    const listener = await listen(url, { toolsListChanged: true, resourceSubscriptions: ['note://a'] });
    return { server, readers: [session, listener], state };
  }

  const methods = (reader: EventReader): string[] =>
    messagesOf(reader).flatMap(({ method }) => (method === updated || method === changed ? [method] : []));

  test.each([
    ['is that of the changes, also when a callback decides late which readers one concerns', 50, [updated, changed]],
    ['is abandoned for a callback that does not return', 1_000_000, [changed]],
  ])('%s', async (_title, delay, expected) => {
    const { server, readers, state } = await serveSlow();
    state.delay = delay;
    await server.resources.notifyUpdated({ uri: 'note://a' });
    await server.toolActions.notifyListChanged();
    await eventually(() => {
      for (const reader of readers) expect(methods(reader)).toEqual(expected);
    });
  });
});

describe('sessions', () => {
  test('sends updates of a resource only to the session that subscribed', async () => {
    const { server, url } = await serve();
    const [one, two] = await Promise.all([openSession(url), openSession(url)]);
    const readers = await Promise.all([one, two].map((headers) => readEvents(url, { headers })));
    for (const reader of readers) afterTest(() => reader.destroy());
    await send(url, { headers: one, body: rpc('resources/subscribe', { uri: 'note://a' }) });
    await server.resources.notifyUpdated({ uri: 'note://a' });
    await server.resources.notifyListChanged();
    const changed = { method: 'notifications/resources/list_changed' };
    await eventually(() => {
      expect(readers.map(messagesOf)).toMatchObject([
        [{ method: 'notifications/resources/updated', params: { uri: 'note://a' } }, changed],
        [changed],
      ]);
    });
  });

  test('one session can watch 1000 resources and no more', async () => {
    const { url } = await serve();
    const headers = await openSession(url);
    for (let index = 0; index < 1000; index += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          send(url, { headers, body: rpc('resources/subscribe', { uri: `n://${index + at}` }, index + at + 1) }),
        ),
      );
    }
    const subscribe = (uri: unknown): Promise<{ json: { error?: { code: number } } }> =>
      send(url, { headers, body: rpc('resources/subscribe', { uri }) });
    expect((await subscribe('n://1000')).json.error?.code).toBe(-32602);
    expect((await subscribe('n://5')).json.error).toBeUndefined();
    expect((await subscribe(undefined)).json.error?.code).toBe(-32602);
  });
});

describe('tools at run time', () => {
  const late = createTool({ id: 'late', description: 'Came later', execute: async () => 'here' });
  const names = async (url: string): Promise<string[]> =>
    (await send(url, modern('tools/list'))).json.result.tools.map(({ name }: { name: string }) => name);

  test('lists and calls added tools, rejects removed ones, and notifies clients of both', async () => {
    const { server, url } = await serve();
    const reader = await listen(url, { toolsListChanged: true });
    const before = await names(url);
    await server.toolActions.add({ late });
    expect(await names(url)).toEqual([...before, 'late']);
    const called = await send(url, modern('tools/call', { name: 'late' }));
    expect(called.json.result.content).toEqual([{ type: 'text', text: 'here' }]);
    await server.toolActions.remove(['late', 'never was']);
    expect(await names(url)).toEqual(before);
    expect((await send(url, modern('tools/call', { name: 'late' }))).json.error).toMatchObject({ code: -32602 });
    await server.toolActions.remove(['never was']);
    await eventually(() => expect(messagesOf(reader)).toHaveLength(3));
  });
});
