import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

const builtIn = globalThis.fetch;
let seen = 0;
const replacement: typeof fetch = (...args) => {
  seen += 1;
  return builtIn(...args);
};

afterEach(() => {
  globalThis.fetch = builtIn;
  seen = 0;
});

async function startServer(): Promise<URL> {
  const server = createServer((_req, res) => res.end('ok'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

test.each(['before', 'after'])(
  'requests pass through a global fetch that was replaced %s the import',
  async (order) => {
    const url = await startServer();
    vi.resetModules();
    if (order === 'before') globalThis.fetch = replacement;
    const { createDefaultSend } = await import('./node-send.js');
    const { fromFetch, HttpCall } = await import('./send.js');
    if (order === 'after') globalThis.fetch = replacement;
    const send = createDefaultSend(fromFetch((target, init) => globalThis.fetch(target, init)));
    expect(await (await send(url, new HttpCall('GET', {}))).text()).toBe('ok');
    expect(seen).toBe(1);
  },
);

test('the fetch of Node is not a replaced one', async () => {
  const { isFetchReplaced } = await import('./send.js');
  expect(isFetchReplaced()).toBe(false);
});
