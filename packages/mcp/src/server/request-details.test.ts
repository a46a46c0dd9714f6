import { createServer } from 'node:http';
import { StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { eras } from '../../test/eras.ts';
import { toolOf } from '../../test/servers/tool-of.ts';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { connectV1, connectV2, modernPin, type RealClient } from '../../test/clients/real-clients.ts';
import { startHost } from '../../test/servers/mcp-hosts.ts';
import { bothTransports } from '../../test/servers/mount-server.ts';
import { commandFor } from '../../test/programs/spawn-server.ts';
import { modern, rpc, send } from '../../test/clients/wire.ts';
import { MCPClient } from '../client/index.js';
import { MCPServer } from './mcp-server.js';

const server = new MCPServer({ name: 'Details', version: '1.0.0', tools: exampleTools });
const listener = bothTransports(server);
const http = createServer((req, res) => {
  if (req.headers['x-user']) Object.assign(req, { auth: { userId: req.headers['x-user'] } });
  listener(req, res);
});
const host = await startHost(() => http, server);
const base = new URL(host.url).origin;
afterAll(host.close);

const stdio = commandFor('stdio-server.ts');
const requestInit = { headers: { 'X-Tenant': 'acme' } };
const call = { name: 'requestDetails', arguments: {}, _meta: { 'acme/trace': 'abc' } };

const inProcess = (): HttpV2 =>
  new HttpV2(new URL('http://localhost/mcp'), {
    requestInit,
    fetch: (url, init) => server.fetch(new Request(url, init)),
  });

test.each<[string, () => Promise<RealClient>, boolean]>([
  ['HTTP, legacy', () => connectV1(new HttpV1(new URL(`${base}/mcp`), { requestInit })), true],
  ['HTTP, modern', () => connectV2(modernPin, new HttpV2(new URL(`${base}/mcp`), { requestInit })), true],
  ['fetch(), legacy', () => connectV2('legacy', inProcess()), true],
  ['fetch(), modern', () => connectV2(modernPin, inProcess()), true],
  ['HTTP+SSE', () => connectV1(new SSEClientTransport(new URL(`${base}/sse`), { requestInit })), true],
  ['stdio, legacy', () => connectV1(new StdioV1({ ...stdio, stderr: 'ignore' })), false],
  ['stdio, modern', () => connectV2(modernPin, new StdioV2({ ...stdio, stderr: 'ignore' })), false],
])('passes _meta, headers and the client to a tool over %s', async (_name, connect, hasHeaders) => {
  const client = await connect();
  const { content } = await client.callTool(call);
  await client.close();
  const details = JSON.parse(content[0].text) as { _meta: object; headers: object; clientInfo: object };
  expect(details._meta).toMatchObject({ 'acme/trace': 'abc' });
  expect(details.clientInfo).toMatchObject({ name: 'real', version: '1' });
  if (hasHeaders) expect(details.headers).toMatchObject({ 'x-tenant': 'acme' });
  else expect(details.headers).toEqual({});
});

test('hides the authorization header when authentication hides the token', async () => {
  const headersOf = async (headers: Record<string, string>): Promise<Record<string, string>> => {
    const { json } = await send(`${base}/mcp`, modern('tools/call', { name: 'requestDetails' }, 1, headers));
    return JSON.parse(json.result.content[0].text).headers as Record<string, string>;
  };
  const authorization = 'Bearer secret';
  expect(await headersOf({ authorization })).toMatchObject({ authorization });
  expect(await headersOf({ authorization, 'x-user': 'ada' })).not.toHaveProperty('authorization');
});

test('knows no client in a legacy request without a session', async () => {
  const { url } = await server.listen({ serverless: true });
  const { json } = await send(url, { body: rpc('tools/call', { name: 'requestDetails' }) });
  expect(JSON.parse(json.result.content[0].text)).not.toHaveProperty('clientInfo');
});

test.each(eras)('gives tools functions that need no `this`, %s', async (protocol) => {
  const requestedSchema = { type: 'object' as const, properties: {} };
  const apart = toolOf('apart', async (_input, { mcp: { sample, roots, progress, log, elicitation, extra = {} } }) => {
    const { sendRequest } = elicitation;
    const { sendNotification, sendRequest: sendRaw, closeSSEStream } = extra;
    await progress({ progress: 1, message: 'half' });
    await log('info', 'a log message');
    await sendNotification?.({ method: 'notifications/progress', params: { progressToken: 'run', progress: 2 } });
    closeSSEStream?.();
    const [{ action }, { text }, found, raw] = await Promise.all([
      sendRequest({ message: 'Go on?', requestedSchema }, { key: 'a' }),
      sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 }, { key: 'b' }),
      roots({ key: 'c' }),
      sendRaw?.({ method: 'roots/list' }, { key: 'd' }),
    ]);
    return JSON.stringify([action, text, found.length, Array.isArray((raw as { roots: unknown }).roots)]);
  });
  const seen: unknown[] = [];
  const mcp = new MCPClient({
    id: `apart ${protocol}`,
    servers: {
      it: {
        server: new MCPServer({ name: 'Apart', version: '1.0.0', tools: { apart } }),
        protocol,
        roots: [{ uri: 'file:///a' }],
        sampling: async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'Hello' } }),
        serverLogLevel: 'info',
        logger: ({ message }) => void (message.includes('a log message') && seen.push('log')),
      },
    },
  });
  onTestFinished(() => mcp.disconnect());
  await mcp.elicitation.onRequest('it', async () => ({ action: 'accept', content: {} }));
  const onProgress = ({ progress }: { progress: number }): void => void seen.push(progress);
  const { content } = await mcp.callTool({ serverName: 'it', name: 'apart', runId: 'run', onProgress });
  expect(content).toEqual([{ type: 'text', text: '["accept","Hello",1,true]' }]);
  expect(seen).toEqual(expect.arrayContaining([1, 2, 'log']));
});

/** Members of an object and its prototypes, with those of all objects left out. */
function membersOf(value: object): string[] {
  const names = new Set<string>();
  for (let at: object | null = value; at && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null)
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  names.delete('constructor');
  return [...names].sort();
}

test.each(eras)('a tool and a hook of the %s era reach their declared members and no others', async (era) => {
  const seen: Record<string, string[]> = {};
  const spy = toolOf('spy', async (_input, { mcp }) => void (seen['tool'] = membersOf(mcp)));
  const spied = new MCPServer({ name: 'Spied', version: '1.0.0', tools: { spy } });
  spied.use({ onCallTool: (context, next) => ((seen['hook'] = membersOf(context)), next()) });
  const { url, close } = await spied.listen({ port: 0 });
  onTestFinished(close);
  const mcp = new MCPClient({ id: `spied ${era}`, servers: { it: { url, protocol: era } } });
  onTestFinished(() => mcp.disconnect());
  await mcp.callTool({ serverName: 'it', name: 'spy' });
  const caller = ['authInfo', 'sessionId'];
  const extra = [
    '_meta',
    'clientInfo',
    'closeSSEStream',
    'requestId',
    'requestInfo',
    'sendNotification',
    'sendRequest',
  ];
  const ofTool = [
    'callId',
    'clientCapabilities',
    'elicitation',
    'extra',
    'log',
    'progress',
    'roots',
    'sample',
    'signal',
  ];
  expect(seen['tool']).toEqual([...caller, ...extra, ...ofTool].sort());
  const request = ['annotations', 'arguments', 'era', 'extra', 'headers', 'mcp', 'method', 'name', 'params'];
  const ofHook = ['abort', 'principal', 'requestContext', 'scopes', 'sentRequest', 'signal', 'waitUntil'];
  expect(seen['hook']).toEqual([...caller, ...request, ...ofHook].sort());
});
