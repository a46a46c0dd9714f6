import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import { setUp, setUpSignedIn, type Stage } from '../../../test/oauth/oauth-stage.ts';
import { initializeParams, rpc } from '../../../test/clients/wire.ts';
import { Gate } from '../../../test/gate.ts';
import { nodeSend } from '../../http/node-send.js';
import { fromFetch, HttpCall, type Send } from '../../http/send.js';
import { createSimpleTokenProvider } from './simple-token-provider.js';
import { withAuthorization } from './with-authorization.js';

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const initialize = (): HttpCall =>
  new HttpCall('POST', { ...headers }, JSON.stringify(rpc('initialize', initializeParams)));

const sends: [string, Send][] = [
  ['node:http', nodeSend],
  ['fetch', fromFetch((url, init) => fetch(url, init))],
];

/** An MCP server in the middle of a call: what it does is up to the test. */
async function startServer(handle: (req: IncomingMessage, res: ServerResponse) => void): Promise<URL> {
  const { origin } = await serveHttp(handle);
  return new URL(`${origin}/mcp`);
}

function tokenProvider(token: string): ReturnType<typeof createSimpleTokenProvider> {
  return createSimpleTokenProvider(token, {
    redirectUrl: 'http://localhost:3999/callback',
    clientMetadata: { redirect_uris: ['http://localhost:3999/callback'] },
  });
}

describe.each(sends)('withAuthorization over %s', (_name, send) => {
  const connect = (stage: Stage, provider: Parameters<typeof withAuthorization>[1]['provider']): Send =>
    withAuthorization(send, { provider, serverUrl: new URL(stage.mcp.url) });

  it('shows the sign-in page, sends the token afterwards, and refreshes it once for twenty requests', async () => {
    const stage = await setUp();
    const { as, mcp, shown, provider, signIn } = stage;
    const user = provider();
    const authorized = connect(stage, user);
    const url = new URL(mcp.url);
    await expect(authorized(url, initialize())).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
    await signIn(user);
    expect((await authorized(url, initialize())).status).toBe(200);
    as.active.clear();
    const responses = await Promise.all(Array.from({ length: 20 }, () => authorized(url, initialize())));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(as.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
    expect([as.familyRevoked, shown.length]).toEqual([false, 1]);
    for (const response of responses) response.discard();
  });

  it('sends no token to another origin', async () => {
    const received: (string | undefined)[] = [];
    const elsewhere = await startServer((req, res) => {
      received.push(req.headers.authorization);
      res.end('{}');
    });
    const serverUrl = new URL('https://mcp.example.com/mcp');
    const authorized = withAuthorization(send, { provider: tokenProvider('t'), serverUrl });
    (await authorized(elsewhere, new HttpCall('GET', {}))).discard();
    expect(received).toEqual([undefined]);
  });

  // A wrapper that sends a copy of a call would leave the socket open.
  it('cancels the request on its way, also after a refresh', async () => {
    const stage = await setUpSignedIn();
    let requests = 0;
    const requested = new Gate();
    const closed = new Gate();
    const hangs = await startServer((req) => {
      req.on('close', closed.open);
      requested.open();
    });
    // The repeated request goes to a server that does not respond.
    const hanging: Send = (url, call) => {
      if (call.body !== undefined) requests += 1;
      return send(requests < 2 ? url : hangs, call);
    };
    stage.as.active.clear();
    const authorized = withAuthorization(hanging, { provider: stage.user, serverUrl: new URL(stage.mcp.url) });
    const call = initialize();
    const outcome = authorized(new URL(stage.mcp.url), call).catch((error: unknown) => error);
    await requested.passed;
    call.cancel();
    await closed.passed;
    expect(await outcome).toBeInstanceOf(Error);
    expect(requests).toBe(2);
  });

  it('does not repeat a request that was canceled during the refresh', async () => {
    const stage = await setUpSignedIn();
    stage.as.active.clear();
    let requests = 0;
    const counting: Send = (url, call) => {
      if (call.body !== undefined) requests += 1;
      return send(url, call);
    };
    const call = initialize();
    stage.as.knobs.token = () => {
      call.cancel();
      return false;
    };
    const authorized = withAuthorization(counting, { provider: stage.user, serverUrl: new URL(stage.mcp.url) });
    await expect(authorized(new URL(stage.mcp.url), call)).rejects.toThrow('canceled');
    expect(requests).toBe(1);
  });

  it('discards an endless event stream that it answers with a refresh', async () => {
    const closed = new Gate();
    const serverUrl = await startServer((req, res) => {
      if (req.url !== '/mcp') return void res.writeHead(404).end();
      res.on('close', closed.open);
      res.writeHead(401, { 'content-type': 'text/event-stream' }).write(': open\n\n');
    });
    const authorized = withAuthorization(send, { provider: tokenProvider('t'), serverUrl });
    await expect(authorized(serverUrl, initialize())).rejects.toMatchObject({
      code: expect.stringContaining('OAUTH_') as string,
    });
    await closed.passed;
  });
});
