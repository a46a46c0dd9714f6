import { StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as sdk from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { inspect } from '../../test/clients/inspect.ts';
import { connectV1, connectV2, modernPin, type RealClient } from '../../test/clients/real-clients.ts';
import { commandFor } from '../../test/programs/spawn-server.ts';
import { errorCodes, LEGACY_VERSIONS, metaKeys, MODERN_VERSION } from '../protocol/constants.js';
import { MCPServer } from './mcp-server.js';

const spawnOptions = commandFor('stdio-server.ts');

const server = new MCPServer({ name: 'Example', version: '1.2.3', instructions: 'Be kind.', tools: exampleTools });
const sessions = await server.listen();
const stateless = await server.listen({ serverless: true });
afterAll(() => server.close());

const clients: [string, () => Promise<RealClient>][] = [
  ['SDK 1 over stdio', () => connectV1(new StdioV1(spawnOptions))],
  ['SDK 1 over HTTP with sessions', () => connectV1(new HttpV1(new URL(sessions.url)))],
  ['SDK 1 over HTTP without sessions', () => connectV1(new HttpV1(new URL(stateless.url)))],
  ['SDK 2 (legacy) over stdio', () => connectV2('legacy', new StdioV2(spawnOptions))],
  ['SDK 2 (auto) over stdio', () => connectV2('auto', new StdioV2({ ...spawnOptions, stderr: 'ignore' }))],
  ['SDK 2 (pinned) over stdio', () => connectV2(modernPin, new StdioV2(spawnOptions))],
  ['SDK 2 (legacy) over HTTP with sessions', () => connectV2('legacy', new HttpV2(new URL(sessions.url)))],
  ['SDK 2 (auto) over HTTP with sessions', () => connectV2('auto', new HttpV2(new URL(sessions.url)))],
  ['SDK 2 (pinned) over HTTP with sessions', () => connectV2(modernPin, new HttpV2(new URL(sessions.url)))],
  ['SDK 2 (legacy) over HTTP without sessions', () => connectV2('legacy', new HttpV2(new URL(stateless.url)))],
  ['SDK 2 (pinned) over HTTP without sessions', () => connectV2(modernPin, new HttpV2(new URL(stateless.url)))],
];

describe.each(clients)('%s', (_name, connect) => {
  let client: RealClient;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  test('reads the instructions and lists the tools', async () => {
    expect(client.getInstructions()).toBe('Be kind.');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(Object.keys(exampleTools));
  });

  test('calls tools and gets text, structured values, images and errors', async () => {
    const call = (name: string, args = {}): Promise<unknown> => client.callTool({ name, arguments: args });
    expect(await call('echo', { message: 'grüße ✓' })).toMatchObject({ content: [{ type: 'text', text: 'grüße ✓' }] });
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } });
    expect(await call('image')).toMatchObject({ content: [{ type: 'image', mimeType: 'image/png' }] });
    expect(await call('fail')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'Error: the disk is full' }],
    });
    await expect(call('nobody')).rejects.toMatchObject({ code: -32602 });
  });

  test('gives up on a tool that takes too long', async () => {
    const options = { timeout: 150 };
    const params = { name: 'wait', arguments: { milliseconds: 10_000 } };
    const late =
      client instanceof ClientV1 ? client.callTool(params, undefined, options) : client.callTool(params, options);
    await expect(late).rejects.toThrow(/time(d )?out/i);
    expect(await client.callTool({ name: 'echo', arguments: { message: 'alive' } })).toMatchObject({
      content: [{ text: 'alive' }],
    });
  });

  test('receives progress', async () => {
    const seen: number[] = [];
    const options = { onprogress: ({ progress }: { progress: number }) => void seen.push(progress) };
    const params = { name: 'steps', arguments: {} };
    await (client instanceof ClientV1 ? client.callTool(params, undefined, options) : client.callTool(params, options));
    expect(seen).toEqual([1, 2]);
  });
});

describe('the Inspector', () => {
  test('lists and calls over stdio', async () => {
    const { command, args } = spawnOptions;
    const { tools } = await inspect(command, ...args, '--method', 'tools/list');
    expect(tools).toHaveLength(Object.keys(exampleTools).length);
    const call = ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'];
    expect(await inspect(command, ...args, ...call)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
  });

  test.each(['legacy', 'modern'])('lists and calls over HTTP in the %s era', async (era) => {
    const at = [sessions.url, '--transport', 'http', '--protocol-era', era];
    const { tools } = await inspect(...at, '--strict', '--method', 'tools/list');
    expect(tools).toHaveLength(Object.keys(exampleTools).length);
    const call = ['--method', 'tools/call', '--tool-name', 'add', '--tool-arg', 'a=1', 'b=2'];
    expect(await inspect(...at, ...call)).toMatchObject({ structuredContent: { sum: 3 } });
  });
});

test('our constants are those of the official SDK', () => {
  expect(LEGACY_VERSIONS).toEqual(sdk.SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < MODERN_VERSION));
  expect(metaKeys).toMatchObject({
    protocolVersion: sdk.PROTOCOL_VERSION_META_KEY,
    clientInfo: sdk.CLIENT_INFO_META_KEY,
    clientCapabilities: sdk.CLIENT_CAPABILITIES_META_KEY,
    serverInfo: sdk.SERVER_INFO_META_KEY,
    logLevel: sdk.LOG_LEVEL_META_KEY,
    subscriptionId: sdk.SUBSCRIPTION_ID_META_KEY,
  });
  expect(errorCodes).toMatchObject({
    parse: sdk.PARSE_ERROR,
    invalidRequest: sdk.INVALID_REQUEST,
    methodNotFound: sdk.METHOD_NOT_FOUND,
    invalidParams: sdk.INVALID_PARAMS,
    internal: sdk.INTERNAL_ERROR,
    missingClientCapability: sdk.ProtocolErrorCode.MissingRequiredClientCapability,
    unsupportedVersion: sdk.ProtocolErrorCode.UnsupportedProtocolVersion,
    urlElicitationRequired: sdk.ProtocolErrorCode.UrlElicitationRequired,
  });
});
