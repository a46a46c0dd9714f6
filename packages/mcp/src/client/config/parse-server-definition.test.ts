import { createRequire } from 'node:module';
import process from 'node:process';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { MCPServer } from '../../server/mcp-server.js';
import { MCPClient } from '../mcp-client.js';
import { parseServerDefinition } from './parse-server-definition.js';
import type { HttpServerDefinition, ServerOptions, StdioServerDefinition } from './server-definition.js';

const url = 'https://example.com/mcp';
const server = new MCPServer({ name: 'It', version: '1', tools: {} });

test.for([
  ['a URL string', url, { kind: 'http', url: new URL(url) }],
  ['a URL', new URL(url), { kind: 'http', url: new URL(url) }],
  ['the path of a JavaScript file', './server.mjs', { kind: 'stdio', definition: { command: process.execPath } }],
  ['a file URL', new URL('file:///srv/a%20b.ts'), { kind: 'stdio', definition: { args: ['/srv/a b.ts'] } }],
  ['the path of a Python file', 'server.py', { kind: 'stdio', definition: { args: ['server.py'] } }],
  ['a server of this process', server, { kind: 'in-process', definition: { server } }],
  ['a command', { command: 'x', url: undefined }, { kind: 'stdio', definition: { command: 'x' } }],
] as const)('%s is a definition', ([, definition, target]) => {
  expect(parseServerDefinition('it', definition)).toMatchObject(target);
});

test.for([
  ['command', 'x'],
  ['url', url],
  ['server', server],
] as const)(
  'reads a definition with `%s` where it is, because a class may define its other members',
  ([target, value]) => {
    class Definition {
      requireToolApproval = true;
    }
    const definition = Object.assign(new Definition(), { [target]: value });
    expect(parseServerDefinition('it', definition).definition).toBe(definition);
  },
);

test.for([
  ['an unknown option', { url, timeot: 5 }, "'timeot'"],
  ['an option of another kind of server', { url, args: ['x'] }, "'args'"],
  ['a url and a command', { url, command: 'npx' }, 'has `command` and `url`'],
  ['a url and a server', { url, server }, 'has `url` and `server`'],
  ['neither url nor command', { timeout: 5 }, 'names none of them'],
  ['a url that is not http', { url: 'file:///etc/passwd' }, "has the url 'file:///etc/passwd'"],
  ['an empty command', { command: '' }, 'has an empty `command`'],
  ['a server that is not a server', { server: {} }, 'neither a server nor a transport'],
  ['null', null, 'is null'],
  ['undefined', undefined, 'is undefined'],
  ['a number', 5, 'is a number'],
  ['an array', [url], 'is an array'],
  ['a function', () => url, 'is a function'],
  ['text that is neither a URL nor a script', 'npx my-server', "is 'npx my-server'"],
] as const)('%s is refused', ([, definition, problem]) => {
  expect(() => parseServerDefinition('it', definition)).toThrow(
    expect.objectContaining({ code: 'SERVER_DEFINITION_INVALID', message: expect.stringContaining(problem) }),
  );
});

const commonOptions: Record<keyof ServerOptions, true> = {
  timeout: true,
  connectTimeout: true,
  logger: true,
  log: true,
  enableServerLogs: true,
  serverLogLevel: true,
  enableProgressTracking: true,
  resetTimeoutOnProgress: true,
  clientInfo: true,
  capabilities: true,
  onMessage: true,
  roots: true,
  sampling: true,
  tasks: true,
  taskTimeout: true,
  resultLimit: true,
  maxInputRounds: true,
  onToolError: true,
  processToolCall: true,
  requireToolApproval: true,
  requestMeta: true,
  retryIdempotent: true,
  maxRetries: true,
  cache: true,
  includeReturnSchema: true,
  includeInstructions: true,
  protocol: true,
  tools: true,
  toolPrefix: true,
};
const stdioOptions: Record<Exclude<keyof StdioServerDefinition, keyof ServerOptions | 'url' | 'server'>, true> = {
  command: true,
  args: true,
  env: true,
  inheritDefaultEnv: true,
  cwd: true,
  stderr: true,
};
const httpOptions: Record<Exclude<keyof HttpServerDefinition, keyof ServerOptions | 'command' | 'server'>, true> = {
  url: true,
  transport: true,
  requestInit: true,
  headers: true,
  eventSourceInit: true,
  fetch: true,
  authProvider: true,
  auth: true,
  tls: true,
  reconnectionOptions: true,
  sessionId: true,
};

test.for([
  ['command', { command: 'x' }, stdioOptions],
  ['url', { url }, httpOptions],
  ['server', { server }, { server: true }],
] as const)('knows the options of a definition with `%s`', ([target, definition, options]) => {
  const known = Object.keys({ ...commonOptions, ...options });
  const parse = (): unknown => parseServerDefinition('it', { ...definition, timeot: 5 });
  expect(parse).toThrow(`not an option together with \`${target}\``);
  expect(parse).toThrow(
    expect.toSatisfy(({ message }: Error) => {
      const listed = /Known: (.*)\.$/.exec(message)?.[1]?.split(', ');
      return isDeepStrictEqual(listed?.toSorted(), known.toSorted());
    }),
  );
});

test('a client connects to a script that is given by its path', async () => {
  const path = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  await using mcp = new MCPClient({ id: 'script', servers: { it: path } });
  expect(Object.keys(await mcp.listTools())).toContain('it_echo');
});

test.for([
  ['an option of the wrong name', { server: {} }, "'server'"],
  ['no servers', {}, '`servers`'],
  ['servers in a list', { servers: [] }, '`servers`'],
  ['a timeout that is not a number', { servers: {}, timeout: Number.NaN }, '`timeout`'],
  ['no options', undefined, 'must be an object'],
] as const)('MCPClient refuses %s', ([, options, problem]) => {
  expect(() => new MCPClient(options as never)).toThrow(
    expect.objectContaining({ code: 'MCP_CLIENT_OPTIONS_INVALID', message: expect.stringContaining(problem) }),
  );
});
