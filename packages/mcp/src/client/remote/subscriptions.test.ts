import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { MessageTransport } from '@quiver/mcp';
import { eventually } from '../../../test/eventually.ts';
import {
  discovered,
  event,
  plain,
  result,
  startScripted,
  stream,
  tools,
  type Message,
} from '../../../test/servers/scripted-server.ts';
import { clientOf } from '../../../test/clients/client-of.ts';

/** A modern server that answers while the message is being sent. */
function answerDuringSend(): MessageTransport {
  const deliver = (message: object): void => (transport.onmessage as (message: object) => void)(message);
  const transport: MessageTransport = {
    async start() {},
    async close() {},
    async send(message) {
      const { id, method, params } = message as { id?: number; method: string; params: Record<string, unknown> };
      const { _meta: meta, notifications } = params as { _meta: Record<string, string>; notifications: object };
      if (method === 'server/discover') {
        const supportedVersions = [meta['io.modelcontextprotocol/protocolVersion']];
        const result = { resultType: 'complete', supportedVersions, capabilities: { resources: { subscribe: true } } };
        deliver({ jsonrpc: '2.0', id, result });
      } else if (method === 'subscriptions/listen') {
        const acknowledged = { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications };
        const notification = { method: 'notifications/subscriptions/acknowledged', params: acknowledged };
        deliver({ jsonrpc: '2.0', ...notification });
      }
    },
  };
  return transport;
}

test('subscribes over a transport that delivers the acknowledgment during the send', async () => {
  const mcp = clientOf({ notes: { server: answerDuringSend(), protocol: 'modern' } });
  await mcp.resources.subscribe('notes', 'note://1');
  expect(mcp.status()['notes']?.state).toBe('ready');
});

/** A modern server whose subscription streams, and calls of the tool `slow`, the test ends. */
async function startListening() {
  const streams: ServerResponse[] = [];
  const arrivals: ((acknowledge: () => void) => void)[] = [];
  let endSlowCall = (): void => {};
  let isRefused = false;
  const listed = [...tools];
  const complete = (value: object) => result({ resultType: 'complete', ...value }, {});
  const listen = stream((response, { id, params }: Message) => {
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    const { notifications } = params as { notifications: object };
    const method = 'notifications/subscriptions/acknowledged';
    streams.push(response);
    arrivals.shift()?.(() => void response.write(event({ jsonrpc: '2.0', method, params: { _meta, notifications } })));
  }, {});
  const { url } = await startScripted({
    'server/discover': result(
      { ...discovered, capabilities: { tools: { listChanged: true }, resources: { subscribe: true } } },
      {},
    ),
    'tools/list': (...about) => complete({ tools: listed, ttlMs: 0 })(...about),
    'tools/call': (response, message, request) => {
      const end = () => complete({ content: [] })(response, message, request);
      if (message.params?.['name'] === 'slow') endSlowCall = end;
      else end();
    },
    'subscriptions/listen': (response, message, request) => {
      if (!isRefused) return listen(response, message, request);
      isRefused = false;
      plain(500)(response, message, request);
    },
  });
  return {
    url,
    streams,
    listed,
    /** Resolves when the client opens the next stream, with a function that acknowledges it. */
    nextStream: () => new Promise<() => void>((resolve) => void arrivals.push(resolve)),
    endSlowCall: () => endSlowCall(),
    /** Makes the next request for a stream fail. */
    refuseStream: () => void (isRefused = true),
  };
}

test('keeps the subscription of a new connection when the stream of the one before was about to be reopened', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, streams, nextStream, endSlowCall } = await startListening();
  const mcp = clientOf({ it: { url, protocol: 'modern' } });
  const call = (name: string) => mcp.callTool({ serverName: 'it', name });
  const updated = new Promise((resolve) => void mcp.resources.onUpdated('it', resolve));
  const first = nextStream();
  const subscribing = mcp.resources.subscribe('it', 'note://1');
  (await first)();
  await subscribing;
  const slow = call('slow');
  await call('fast');
  streams[0]?.end();
  await call('fast');
  const second = nextStream();
  // The next request connects again, to declare the handler.
  mcp.elicitation.onRequest('it', async () => ({ action: 'decline' }));
  const fast = call('fast');
  const acknowledge = await second;
  const third = nextStream().then((acknowledgeThird) => acknowledgeThird());
  // The first stream is due.
  vi.advanceTimersByTime(500);
  acknowledge();
  await fast;
  await Promise.race([third, call('fast').then(() => call('fast'))]);
  endSlowCall();
  await slow;
  vi.advanceTimersByTime(1);
  await call('fast');
  const open = streams.filter((response) => !response.destroyed);
  expect(open).toHaveLength(1);
  open[0]?.write(event({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note://1' } }));
  expect(await updated).toEqual({ uri: 'note://1' });
});

test('fetches the lists again that may have changed while the stream was interrupted', async () => {
  const { url, streams, listed, nextStream } = await startListening();
  const mcp = clientOf({ it: { url, protocol: 'modern' } });
  const names = async () => Object.keys(await mcp.listTools());
  const first = nextStream();
  const listening = mcp.tools.onListChanged('it', () => {}).then(names);
  (await first)();
  expect(await listening).toEqual(['it_go']);
  const second = nextStream();
  streams[0]?.end();
  const acknowledge = await second;
  await names();
  listed.push({ name: 'added', inputSchema: { type: 'object' } });
  acknowledge();
  await eventually(async () => expect(await names()).toEqual(['it_go', 'it_added']));
});

test('subscribes again when a new connection could not open its stream at once', async () => {
  const { url, streams, nextStream, refuseStream } = await startListening();
  const mcp = clientOf({ it: { url, protocol: 'modern' } });
  const updated = new Promise((resolve) => void mcp.resources.onUpdated('it', resolve));
  const first = nextStream();
  const subscribing = mcp.resources.subscribe('it', 'note://1');
  (await first)();
  await subscribing;
  refuseStream();
  const second = nextStream();
  await mcp.reconnectServer('it');
  (await second)();
  const message = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'note://1' } };
  streams.at(-1)?.write(event(message));
  expect(await updated).toEqual({ uri: 'note://1' });
});
