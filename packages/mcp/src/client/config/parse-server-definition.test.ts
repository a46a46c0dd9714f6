import { createRequire } from 'node:module';
import process from 'node:process';
import { expect, test } from 'vitest';
import { MCPServer } from '../../server/mcp-server.js';
import { MCPClient } from '../mcp-client.js';
import { parseServerDefinition } from './parse-server-definition.js';
import { errorOf } from '../../../test/error-of.ts';
import { clientOf } from '../../../test/clients/client-of.ts';
import { captureLog } from '../../../test/capture-log.ts';

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
  ['a url and a command', { url, command: 'npx' }, 'has `command` and `url`'],
  ['a url and a server', { url, server }, 'has `url` and `server`'],
  ['neither url nor command', { timeout: 5 }, 'names none of them'],
  ['a url that is not http', { url: 'file:///etc/passwd' }, "has the url 'file:///etc/passwd'"],
  ['an empty command', { command: '' }, 'has an empty `command`'],
  ['a server that is not a server', { server: {} }, 'neither a server nor a transport'],
  ['a client without a version', { url, clientInfo: { name: 'x' } }, 'non-empty `name` and `version`'],
  ['a client with an empty name', { url, clientInfo: { name: '', version: '1' } }, "'clientInfo' must be an object"],
  [
    'a client whose version is a number',
    { command: 'x', clientInfo: { name: 'x', version: 1 } },
    "'clientInfo' must be an object",
  ],
  ['a text as client', { server, clientInfo: 'x' }, "'clientInfo' must be an object"],
  ['null as client', { url, clientInfo: null }, "'clientInfo' must be an object"],
  ['null', null, 'is null'],
  ['undefined', undefined, 'is undefined'],
  ['a number', 5, 'is a number'],
  ['an array', [url], 'is an array'],
  ['a function', () => url, 'is a function'],
  ['text that is neither a URL nor a script', 'npx my-server', "is 'npx my-server'"],
] as const)('%s is refused', ([, definition, problem]) => {
  expect(() => parseServerDefinition('it', definition)).toThrow(errorOf('OPTIONS_INVALID', problem));
});

test.for([
  [
    { url, timeot: 5 },
    "MCP server 'it', defined by `url`, has no option 'timeot'. Did you mean 'timeout'? Its options are: url, ",
  ],
  [{ url, args: ['x'] }, "MCP server 'it', defined by `url`, has no option 'args'."],
  [{ command: 'x', headers: {} }, "MCP server 'it', defined by `command`, has no option 'headers'."],
  [
    { server, sampling: { model: 'x', aprove: () => false } },
    "no option 'sampling.aprove'. Did you mean 'sampling.approve'?",
  ],
  [{ server, sampling: 'openai/x' }, "'sampling' must be a function or an object with a model, not 'openai/x'."],
  [{ server, roots: [{ url: 'file:///a' }] }, "no option 'roots[0].url'."],
  [{ server, roots: 'file:///a' }, "'roots' must be a list"],
  [
    { server, tools: { denied: ['x'] } },
    "no option 'tools.denied'. The options of 'tools' are: allow, deny, filter, rename.",
  ],
  [{ server, requireToolApproval: 'always' }, "'requireToolApproval' must be true, false or a function, not 'always'."],
  [{ url, tls: { rejectUnauthorised: false } }, "Did you mean 'tls.rejectUnauthorized'?"],
  [{ url, reconnectionOptions: { retries: 1 } }, "no option 'reconnectionOptions.retries'."],
  [{ url, allowedHosts: ['example.com'] }, "has no option 'allowedHosts'."],
] as const)('refuses the options %j', ([definition, message]) => {
  expect(() => parseServerDefinition('it', definition)).toThrow(
    expect.objectContaining({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(message),
      details: { server: 'it' },
    }),
  );
});

test('accepts options of Mastra without effect, and objects that are passed on to fetch', () => {
  const warnings = captureLog('warn');
  const definition = { url, forwardInstructions: true, requestInit: { anything: 1 }, eventSourceInit: {} };
  for (let count = 0; count < 2; count += 1) parseServerDefinition('migrated', definition);
  expect(warnings).toEqual([
    expect.stringContaining(
      "MCP server 'migrated', defined by `url`, ignores the option 'forwardInstructions': set includeInstructions",
    ),
  ]);
});

test('a client connects to a script that is given by its path', async () => {
  const path = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const mcp = clientOf({ it: path });
  expect(Object.keys(await mcp.listTools())).toContain('it_echo');
});

test.for([
  ['an option of the wrong name', { server: {} }, "'server'"],
  ['no servers', {}, "needs 'servers'"],
  ['servers in a list', { servers: [] }, "'servers'"],
  ['a timeout that is not a number', { servers: {}, timeout: Number.NaN }, "'timeout'"],
  ['a client without a name', { servers: {}, clientInfo: { version: '1' } }, "'clientInfo'"],
  ['a text as client', { servers: {}, clientInfo: 'x' }, "'clientInfo'"],
  ['no options', undefined, 'needs its options, an object'],
] as const)('MCPClient refuses %s', ([, options, problem]) => {
  expect(() => new MCPClient(options as never)).toThrow(errorOf('OPTIONS_INVALID', problem));
});
