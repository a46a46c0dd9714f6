import type { Logger } from '@quiver/core';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { exampleTools } from '../../test/servers/example-tools.ts';
import { envelope, initializeParams, rpc } from '../../test/clients/wire.ts';
import { createServerState } from './create-server-state.js';
import { MCPServer } from './mcp-server.js';
import type { MCPServerConfig } from './features.js';
import { Connection } from './connection/connection.js';

const failures: string[] = [];
const ignore = (): void => {};
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: (message) => void failures.push(message) };
afterEach(() => void failures.splice(0));

const config: MCPServerConfig = {
  name: 'Robust',
  version: '1.0.0',
  tools: { echo: exampleTools.echo, add: exampleTools.add, odd: exampleTools.odd },
  resources: {
    listResources: async () => [{ uri: 'note://one', name: 'One' }],
    resourceTemplates: async () => [{ uriTemplate: 'note://{day}', name: 'Day' }],
    getResourceContent: async ({ uri }) => ({ text: uri }),
    completeVariable: async ({ value }) => [value],
  },
  prompts: {
    listPrompts: async () => [{ name: 'review', arguments: [{ name: 'code', required: true }] }],
    getPromptMessages: async ({ args }) => [{ role: 'user', content: { type: 'text', text: String(args.code) } }],
    completeArgument: async ({ value }) => [value],
  },
  logger,
};

/** All but `subscriptions/listen`, which stays open. */
const method = fc.constantFrom(
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'server/discover',
  'notifications/cancelled',
  'notifications/initialized',
  'nothing/here',
);
const version = fc.constantFrom('2026-07-28', '2025-11-25', '2025-03-26', '2024-11-05', '2099-01-01', '', 'x');
/** Values of the members of a request: valid, nearly valid, and any. */
const member = (...right: unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...right) }, fc.jsonValue({ maxDepth: 2 }));
const params = fc.record(
  {
    name: member('echo', 'add', 'odd', 'review', '__proto__', 'toString'),
    arguments: member({ message: 'hi' }, { a: 1, b: 2 }, { kind: 'date' }, { code: 'x' }, { __proto__: null }),
    uri: member('note://one', 'note://two', 'note://../x', 'x:'),
    cursor: member('0:echo', '1:note%3A%2F%2Fone'),
    level: member('debug', 'loud'),
    protocolVersion: version,
    ref: member({ type: 'ref/prompt', name: 'review' }, { type: 'ref/resource', uri: 'note://{day}' }),
    argument: member({ name: 'code', value: 'a' }, { name: 'day', value: 'b' }),
    requestId: member(1, 'a'),
    requestState: member('a.b.c'),
    inputResponses: member({}),
    _meta: member(envelope, { progressToken: 1 }, { ...envelope, 'io.modelcontextprotocol/protocolVersion': 5 }),
  },
  { requiredKeys: [] },
);
const message = fc.record(
  {
    jsonrpc: member('2.0'),
    id: member(1, 'a', null),
    method: fc.oneof({ weight: 5, arbitrary: method }, fc.string()),
    params: fc.oneof({ weight: 5, arbitrary: params }, fc.jsonValue()),
    result: fc.jsonValue({ maxDepth: 1 }),
    error: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: ['jsonrpc', 'method'] },
);
const body = fc.oneof(
  { weight: 6, arbitrary: message.map((value) => JSON.stringify(value)) },
  fc.array(message, { maxLength: 4 }).map((value) => JSON.stringify(value)),
  fc.json(),
  fc.string(),
  fc.uint8Array({ maxLength: 40 }),
);

/** A result, an error, or an array of them. */
function requireAnswers(value: unknown): void {
  const answers: unknown[] = Array.isArray(value) ? value : [value];
  expect(answers.length).toBeGreaterThan(0);
  for (const answer of answers) {
    expect(answer).toMatchObject({ jsonrpc: '2.0' });
    expect('result' in (answer as object)).toBe(!('error' in (answer as object)));
  }
}

describe('any message of a client', () => {
  test.each([true, false])('is answered over HTTP, and never with 500 (sessions: %s)', async (hasSessions) => {
    const server = new MCPServer(config);
    const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const post = (content: string | Uint8Array<ArrayBuffer>, headers: object): Promise<Response> =>
      server.fetch(
        new Request('http://localhost/mcp', { method: 'POST', headers: { ...accept, ...headers }, body: content }),
        { serverless: !hasSessions },
      );
    const sessions = await Promise.all(
      ['2025-11-25', '2025-03-26'].map(async (protocolVersion) => {
        const opened = await post(JSON.stringify(rpc('initialize', { ...initializeParams, protocolVersion })), {});
        return { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? 'none' };
      }),
    );
    const headers = fc.tuple(
      fc.constantFrom({}, ...sessions),
      fc.record(
        { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': fc.constantFrom('echo', 'x') },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(body, headers, async (content, [session, standard]) => {
        const response = await post(content, { ...session, ...standard });
        const text = await response.text();
        expect([200, 202, 400, 404]).toContain(response.status);
        if (response.headers.get('content-type') === 'text/event-stream') return;
        if (response.status === 202) expect(text).toBe('');
        else requireAnswers(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
    expect(failures).toEqual([]);
    await server.close();
  });

  test('is answered over a connection, or ignored, and never ends it', async () => {
    const lines: unknown[] = [];
    const peer = new Connection({
      server: createServerState(config).state,
      write: (text) => void lines.push(JSON.parse(text)),
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(message, fc.array(message, { maxLength: 4 }), fc.jsonValue()), async (value) => {
        lines.length = 0;
        await peer.receive(JSON.parse(JSON.stringify(value)));
        for (const line of lines) if (!('method' in (line as object))) requireAnswers(line);
      }),
      { numRuns: 2_000 },
    );
    expect(failures).toEqual([]);
    await peer.receive(rpc('ping', undefined, 'alive'));
    expect(lines.at(-1)).toEqual({ jsonrpc: '2.0', id: 'alive', result: {} });
  });
});
