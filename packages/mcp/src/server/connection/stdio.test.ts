import { once } from 'node:events';
import process from 'node:process';
import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createServerState } from '../create-server-state.js';
import { MCPServer } from '../mcp-server.js';
import { serveStdio } from './stdio.js';

test.each([
  ['ended', Readable.from([]).resume()],
  ['was destroyed', new PassThrough().destroy()],
])('closes at once when its input %s before', async (_state, input) => {
  if (!input.closed) await once(input, 'close');
  let closed = 0;
  const server = createServerState({ name: 'Ended', version: '1.0.0', tools: {} }).state;
  serveStdio({ server, input, output: new PassThrough(), onClose: () => (closed += 1) });
  // Not within the call: the caller has no connection yet.
  expect(closed).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).toBe(1);
  expect(server.sessions.size).toBe(0);
});

test('serves streams of the caller, whose end leaves the process and its standard output alone', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const write = Object.getOwnPropertyDescriptor(process.stdout, 'write');
  const server = new MCPServer({ name: 'Embedded', version: '1.0.0', tools: {} });
  await server.startStdio({ input, output });
  expect(Object.getOwnPropertyDescriptor(process.stdout, 'write')).toEqual(write);
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
  expect(String((await once(output, 'data'))[0])).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n');
  input.end();
  await once(input, 'close');
  expect(server.getStdioTransport()).toBeUndefined();
  // The server is open still.
  await server.startStdio({ input: new PassThrough(), output });
  await server.close();
});
