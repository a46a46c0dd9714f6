import { afterEach, expect, test, vi } from 'vitest';
import { serveHttp } from '../../test/after-test.ts';

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
  const { origin } = await serveHttp((_req, res) => res.end('ok'));
  return new URL(origin);
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
