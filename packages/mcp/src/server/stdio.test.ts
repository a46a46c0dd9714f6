import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createServerDefinition } from './create-server-definition.js';
import { serveStdio } from './stdio.js';

test.each([
  ['ended', Readable.from([]).resume()],
  ['was destroyed', new PassThrough().destroy()],
])('closes at once when its input %s before', async (_state, input) => {
  if (!input.closed) await once(input, 'close');
  let closed = 0;
  const server = createServerDefinition({ name: 'Ended', version: '1.0.0', tools: {} });
  serveStdio({ server, input, write: () => {}, onClose: () => (closed += 1) });
  // Not within the call: the caller has no connection yet.
  expect(closed).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).toBe(1);
  expect(server.sessions.size).toBe(0);
});
