import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { createGuardedFetch } from './guarded-fetch.js';

/** Serves connections on a loopback address. */
async function serve(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterTest(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

/** A service on a loopback address that remote servers must not reach, with a count of its connections. */
async function startPrivateService(): Promise<{ port: number; knocks: () => number }> {
  let knocks = 0;
  const port = await serve((socket) => {
    knocks += 1;
    socket.destroy();
  });
  return { port, knocks: () => knocks };
}

/** A name server that resolves each name to the next of its results. */
function answering(...answers: string[][]) {
  const asked: string[] = [];
  const resolve = async (hostname: string): Promise<{ address: string; family: number }[]> => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { resolve, asked };
}

const serverUrl = new URL('https://mcp.example.com/mcp');

describe('createGuardedFetch', () => {
  it.each([
    ['a private address', ['127.0.0.1']],
    ['the link-local address of cloud metadata', ['169.254.169.254']],
    ['a private address among public ones', ['203.0.113.7', '10.0.0.1']],
    ['a private address in IPv6 form', ['::ffff:10.0.0.1']],
  ])('refuses a name that resolves to %s, before anything is sent', async (_what, addresses) => {
    const { port, knocks } = await startPrivateService();
    const { resolve } = answering(addresses);
    const fetch = createGuardedFetch({ serverUrl, resolve });
    const request = fetch(`https://auth.example.com:${port}/token`, { method: 'POST', body: 'x' });
    await expect(request).rejects.toMatchObject({ code: 'OAUTH_URL_PRIVATE' });
    expect(knocks()).toBe(0);
  });

  it('connects to the address that it checked, although the name changes a moment later', async () => {
    const { port, knocks } = await startPrivateService();
    // 203.0.113.0/24 is for documentation and has no servers.
    const { resolve, asked } = answering(['203.0.113.7'], ['127.0.0.1']);
    const fetch = createGuardedFetch({ serverUrl, resolve, timeout: 100 });
    await expect(fetch(`https://auth.example.com:${port}/token`)).rejects.not.toMatchObject({
      code: 'OAUTH_URL_PRIVATE',
    });
    expect([asked, knocks()]).toEqual([['auth.example.com'], 0]);
    await expect(fetch(`https://auth.example.com:${port}/token`)).rejects.toMatchObject({ code: 'OAUTH_URL_PRIVATE' });
    expect(knocks()).toBe(0);
  });

  it('rejects loopback addresses for a remote server, and allows them for a local one', async () => {
    const { port, knocks } = await startPrivateService();
    const url = `http://localhost:${port}/token`;
    await expect(createGuardedFetch({ serverUrl })(url)).rejects.toMatchObject({ code: 'OAUTH_URL_PRIVATE' });
    expect(knocks()).toBe(0);
    await expect(createGuardedFetch({ serverUrl: new URL('http://127.0.0.1:1/mcp') })(url)).rejects.toMatchObject({
      cause: { code: 'ECONNRESET' },
    });
    expect(knocks()).toBe(1);
  });

  it('rejects a name of localhost that resolves to another host', async () => {
    const { resolve } = answering(['10.0.0.1']);
    const fetch = createGuardedFetch({ serverUrl: new URL('http://127.0.0.1:1/mcp'), resolve });
    await expect(fetch('http://auth.localhost:1/token')).rejects.toMatchObject({ code: 'OAUTH_URL_PRIVATE' });
  });

  it('rejects an endpoint that switches protocols', async () => {
    const port = await serve((socket) => {
      socket.on('error', () => {}).resume();
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
    });
    const fetch = createGuardedFetch({ serverUrl: new URL('http://127.0.0.1:1/mcp') });
    await expect(fetch(`http://127.0.0.1:${port}/token`)).rejects.toThrow('without a response');
  });

  it('checks the name before it calls a custom fetch', async () => {
    const asked: string[] = [];
    const fetch = createGuardedFetch({
      serverUrl,
      fetch: async (url) => {
        asked.push(String(url));
        return Response.json({ ok: true });
      },
    });
    expect(await (await fetch('https://203.0.113.7/token')).json()).toEqual({ ok: true });
    await expect(fetch('https://10.0.0.1/token')).rejects.toMatchObject({ code: 'OAUTH_URL_PRIVATE' });
    expect(asked).toEqual(['https://203.0.113.7/token']);
  });

  it('times out at an endpoint that does not respond', async () => {
    const port = await serve((socket) => void socket.on('error', () => {}).resume());
    const fetch = createGuardedFetch({ serverUrl: new URL('http://127.0.0.1:1/mcp'), timeout: 100 });
    await expect(fetch(`http://127.0.0.1:${port}/token`)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
