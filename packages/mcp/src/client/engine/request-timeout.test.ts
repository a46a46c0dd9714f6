import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { RequestId } from '../../protocol/json-rpc.js';
import type { Channel } from '../transports/channel.js';
import { createInProcessChannel } from '../transports/in-process.js';
import type { EngineRequestOptions } from './call.js';
import { Engine } from './engine.js';
import { negotiate } from './negotiate.js';

let engine: Engine;
let settled: string[];
/** Ends the elicitation requests of the server. */
let answers: (() => void)[];
/** Whether requests of the server arrive on the stream of the last call, as over HTTP. */
let hasStreams = false;
beforeEach(async () => {
  vi.useFakeTimers();
  settled = [];
  answers = [];
  const server = new McpServer({ name: 'slow', version: '1' });
  server.registerTool('hang', {}, async () => new Promise(() => {}));
  server.registerTool('done', {}, async () => ({ content: [] }));
  server.registerTool('report', {}, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken as string;
    for (let progress = 1; ; progress += 1) {
      await new Promise((resolve) => setTimeout(resolve, 80));
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
    }
  });
  server.registerTool('ask', {}, async ({ mcpReq }) => {
    await mcpReq.elicitInput({ message: '?', requestedSchema: { type: 'object', properties: {} } }, { timeout: 1e6 });
    return { content: [] };
  });
  server.registerTool('askAndHang', {}, async ({ mcpReq }) => {
    await mcpReq.elicitInput({ message: '?', requestedSchema: { type: 'object', properties: {} } }, { timeout: 1e6 });
    return new Promise(() => {});
  });
  const capabilities = { elicitation: { form: {} } };
  const clientInfo = { name: 'test', version: '1' };
  const respond = async () => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return { action: 'decline' };
  };
  hasStreams = false;
  const channel = withStreams(createInProcessChannel(server));
  const ignore = (): void => {};
  engine = new Engine({
    channel,
    clientInfo,
    capabilities,
    application: { respond, notify: ignore },
    onError: ignore,
    onSessionLost: ignore,
    onClosed: ignore,
  });
  await channel.start(engine);
  await negotiate(engine, { mode: 'legacy', clientInfo, capabilities });
});
afterEach(async () => {
  await engine.close();
  vi.useRealTimers();
});

function withStreams(channel: Channel): Channel {
  let last: RequestId | undefined;
  return {
    kind: channel.kind,
    close: () => channel.close(),
    send: (message, sending) => {
      if ('method' in message && message.method === 'tools/call' && 'id' in message) last = message.id;
      return channel.send(message, sending);
    },
    start: (receiver) =>
      channel.start({
        onMessage: (message) => receiver.onMessage(message, hasStreams ? last : undefined),
        onError: (error) => receiver.onError(error),
        onSessionLost: () => receiver.onSessionLost(),
        onClosed: (error) => receiver.onClosed(error),
      }),
  };
}

function call(label: string, name: string, options: EngineRequestOptions): void {
  const end = (): void => void settled.push(label);
  engine.request('tools/call', { name, arguments: {} }, options).then(end, end);
}

const advance = async (milliseconds: number): Promise<string[]> => {
  await vi.advanceTimersByTimeAsync(milliseconds);
  return settled;
};

test('expires each request at its own time', async () => {
  call('slow', 'hang', { timeout: 300 });
  call('fast', 'hang', { timeout: 100 });
  call('never', 'hang', { timeout: 0 });
  expect(await advance(99)).toEqual([]);
  expect(await advance(1)).toEqual(['fast']);
  expect(await advance(200)).toEqual(['fast', 'slow']);
});

test('expires no request early when the wall clock is set forward', async () => {
  call('slow', 'hang', { timeout: 300 });
  call('fast', 'hang', { timeout: 100 });
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(await advance(100)).toEqual(['fast']);
  expect(await advance(200)).toEqual(['fast', 'slow']);
});

test('uses one timer for all requests, which ends with the connection', async () => {
  call('it', 'done', { timeout: 1000 });
  expect(await advance(0)).toEqual(['it']);
  call('other', 'done', { timeout: 1000 });
  call('open', 'hang', { timeout: 1000 });
  expect(await advance(500)).toEqual(['it', 'other']);
  expect(vi.getTimerCount()).toBe(1);
  expect(await advance(500)).toEqual(['it', 'other', 'open']);
  await engine.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('progress extends the time, but not beyond the total', async () => {
  const progress = { progressToken: 'p', resetTimeoutOnProgress: true };
  call('total', 'report', { timeout: 100, maxTotalTimeout: 250, ...progress });
  call('extended', 'report', { timeout: 100, ...progress });
  call('fixed', 'report', { timeout: 100 });
  expect(await advance(249)).toEqual(['fixed']);
  expect(await advance(1)).toEqual(['fixed', 'total']);
  expect(await advance(1000)).toEqual(['fixed', 'total']);
});

test('no time passes while the application answers the server', async () => {
  call('it', 'hang', { timeout: 100, maxTotalTimeout: 150 });
  await advance(60);
  call('first', 'ask', { timeout: 10_000 });
  call('second', 'ask', { timeout: 10_000 });
  await advance(5000);
  call('later', 'hang', { timeout: 200 });
  await advance(5000);
  answers[0]?.();
  expect(await advance(10_000)).toEqual(['first']);
  answers[1]?.();
  expect(await advance(39)).toEqual(['first', 'second']);
  expect(await advance(1)).toEqual(['first', 'second', 'it']);
  expect(await advance(159)).toEqual(['first', 'second', 'it']);
  expect(await advance(1)).toEqual(['first', 'second', 'it', 'later']);
});

test('no time passes for the call that the server asks about, if that is known', async () => {
  hasStreams = true;
  call('other', 'hang', { timeout: 150 });
  call('asking', 'ask', { timeout: 100, maxTotalTimeout: 100 });
  expect(await advance(149)).toEqual([]);
  expect(await advance(10_000)).toEqual(['other']);
  answers[0]?.();
  expect(await advance(0)).toEqual(['other', 'asking']);
});

test('the time that is left continues after the response of the user', async () => {
  hasStreams = true;
  call('asking', 'askAndHang', { timeout: 100 });
  await advance(10_000);
  answers[0]?.();
  expect(await advance(99)).toEqual([]);
  expect(await advance(1)).toEqual(['asking']);
});

test('keeps timeouts longer than the longest timer', async () => {
  call('it', 'hang', { timeout: 2 ** 32 });
  expect(await advance(2 ** 31)).toEqual([]);
  expect(await advance(2 ** 31)).toEqual(['it']);
});

test('sends requests where a timer is a number, as on Workers', async () => {
  const start = globalThis.setTimeout;
  vi.stubGlobal('setTimeout', (run: () => void, delay?: number) => Number(start(run, delay)));
  try {
    const send = () => engine.request('tools/call', { name: 'done', arguments: {} }, { timeout: 50 });
    await expect(send()).resolves.toMatchObject({ content: [] });
    await expect(send()).resolves.toMatchObject({ content: [] });
  } finally {
    vi.unstubAllGlobals();
  }
});
