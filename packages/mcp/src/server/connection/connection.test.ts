import { createTool } from '@quiver/core/tools';
import { expect, test } from 'vitest';
import { initializeParams, modern, rpc } from '../../../test/clients/wire.ts';
import { createServerState } from '../create-server-state.js';
import { Connection } from './connection.js';

test.each(['2025-11-25', '2025-03-26'])(
  'a cancelled request of %s is not answered, not even with its error',
  async (version) => {
    const sent: { id?: unknown }[] = [];
    let isReading = false;
    const server = createServerState({
      name: 'Cancelling',
      version: '1.0.0',
      tools: {},
      resources: {
        listResources: async () => [{ uri: 'slow://one', name: 'Slow' }],
        getResourceContent: ({ extra }) => {
          isReading = true;
          return new Promise((_resolve, reject) => {
            extra.signal?.addEventListener('abort', () => reject(new Error('stopped')));
          });
        },
      },
    }).state;
    const peer = new Connection({ server, write: (text) => void sent.push(JSON.parse(text)) });
    await peer.receive(rpc('initialize', { ...initializeParams, protocolVersion: version }, 'start'));
    const read = rpc('resources/read', { uri: 'slow://one' }, 'slow');
    const reading = peer.receive(version === '2025-03-26' ? [read, rpc('ping', undefined, 'quick')] : read);
    await expect.poll(() => isReading).toBe(true);
    await peer.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } });
    await reading;
    await peer.receive(rpc('ping', undefined, 'after'));
    expect(sent.flat().map(({ id }) => id)).toEqual(
      version === '2025-03-26' ? ['start', 'quick', 'after'] : ['start', 'after'],
    );
  },
);

test('a canceled request ends, also when its callback then sends a request to the client', async () => {
  const sent: { id?: unknown }[] = [];
  let proceed: (() => void) | undefined;
  const server = createServerState({
    name: 'Cancelling',
    version: '1.0.0',
    tools: {},
    prompts: {
      listPrompts: async () => [{ name: 'late' }],
      getPromptMessages: async ({ mcp }) => {
        await new Promise<void>((resolve) => (proceed = resolve));
        await mcp.roots();
        return [];
      },
    },
  }).state;
  const peer = new Connection({ server, write: (text) => void sent.push(JSON.parse(text)) });
  const getting = peer.receive(modern('prompts/get', { name: 'late' }, 'late').body);
  await expect.poll(() => proceed).toBeDefined();
  await peer.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'late' } });
  proceed?.();
  await getting;
  expect(sent).toEqual([]);
});

test('a message takes effect before the next one, also when both arrive at once', async () => {
  const sent: { id?: unknown }[] = [];
  let runs = 0;
  const execute = (): Promise<void> => {
    runs += 1;
    return new Promise(() => {});
  };
  const server = createServerState({
    name: 'Ordered',
    version: '1.0.0',
    tools: { wait: createTool({ id: 'wait', description: 'Waits', execute }) },
  }).state;
  const peer = new Connection({ server, write: (text) => void sent.push(JSON.parse(text)) });
  const call = (id: string): object => rpc('tools/call', { name: 'wait' }, id);
  const cancel = (requestId: string): object => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId },
  });
  // As the reader of standard input delivers the lines of one chunk.
  await Promise.all(
    [
      rpc('initialize', { ...initializeParams, protocolVersion: '2025-03-26' }, 'start'),
      // Only after the handshake: other sessions have no batches.
      [rpc('ping', undefined, 'batch')],
      call('first'),
      cancel('first'),
      call('second'),
      // Its id is in use while the call is in flight.
      call('second'),
      cancel('second'),
    ].map((message) => peer.receive(message)),
  );
  expect(sent.flat()).toMatchObject([
    { id: 'second', error: { message: expect.stringContaining('already being answered') } },
    { id: 'start', result: {} },
    { id: 'batch', result: {} },
  ]);
  // A call that is canceled in its own chunk has no effects.
  expect(runs).toBe(0);
});
