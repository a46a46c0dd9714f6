import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { QuiverError } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import { isInProcessServer, isTransport } from './in-process-server.js';
import type {
  HttpServerDefinition,
  InProcessServerDefinition,
  ServerOptions,
  ServerTarget,
  StdioServerDefinition,
} from './server-definition.js';

type OptionNames<Definition> = Readonly<Record<keyof Definition, true>>;

const serverOptions: OptionNames<ServerOptions> = {
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

/** Options of each kind of server, by the option that selects the kind. */
const optionsByTarget = {
  command: {
    ...serverOptions,
    command: true,
    args: true,
    env: true,
    inheritDefaultEnv: true,
    cwd: true,
    stderr: true,
  } satisfies OptionNames<Omit<StdioServerDefinition, 'url' | 'server'>>,
  url: {
    ...serverOptions,
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
  } satisfies OptionNames<Omit<HttpServerDefinition, 'command' | 'server'>>,
  server: { ...serverOptions, server: true } satisfies OptionNames<Omit<InProcessServerDefinition, 'command' | 'url'>>,
} as const;

const targets = ['command', 'url', 'server'] as const;

/**
 * Parses one entry of `servers`.
 *
 * @throws `SERVER_DEFINITION_INVALID` for a value that is not a definition, an unknown option, and a definition that does not name
 *   exactly one of a command, an http(s) URL and a server of this process
 */
export function parseServerDefinition(name: string, value: unknown): ServerTarget {
  if (typeof value === 'string' || value instanceof URL) return parseAddress(name, value);
  if (!isObject(value)) throw invalid(name, `is ${describe(value)}`);
  if (isInProcessServer(value) || isTransport(value)) return { kind: 'in-process', definition: { server: value } };
  const given = targets.filter((key) => value[key] !== undefined);
  const [target] = given;
  if (!target) throw invalid(name, 'names none of them');
  if (given.length > 1) throw invalid(name, `has ${given.map((key) => `\`${key}\``).join(' and ')}`);
  requireKnownOptions(name, value, target);
  // The option that selects the kind is checked here; TypeScript checks the other values.
  switch (target) {
    case 'command':
      if (typeof value['command'] !== 'string' || value['command'] === '')
        throw invalid(name, 'has an empty `command`');
      return { kind: 'stdio', definition: value as unknown as StdioServerDefinition };
    case 'server':
      if (!isObject(value['server']) || !(isInProcessServer(value['server']) || isTransport(value['server'])))
        throw invalid(name, 'has a `server` that is neither a server nor a transport');
      return { kind: 'in-process', definition: value as unknown as InProcessServerDefinition };
    case 'url': {
      const url = toHttpUrl(value['url']);
      if (!url) throw invalid(name, `has the url '${String(value['url'])}'`);
      if (value['tls'] !== undefined && value['fetch'] !== undefined) throw conflict(name, '`tls` and `fetch`');
      if (value['auth'] !== undefined && value['authProvider'] !== undefined)
        throw conflict(name, '`auth` and `authProvider`');
      if (value['auth'] !== undefined && value['auth'] !== 'oauth') throw conflict(name, "`auth` other than 'oauth'");
      return { kind: 'http', definition: value as unknown as HttpServerDefinition, url };
    }
  }
}

/** A URL, or the path of a script that runs in Node.js or Python. */
function parseAddress(name: string, address: string | URL): ServerTarget {
  const url = toHttpUrl(address);
  if (url) return { kind: 'http', definition: { url }, url };
  const path = /^file:/i.test(String(address)) ? fileURLToPath(address) : String(address);
  if (/\.[cm]?[jt]s$/.test(path)) return { kind: 'stdio', definition: { command: process.execPath, args: [path] } };
  const python = process.platform === 'win32' ? 'python' : 'python3';
  if (path.endsWith('.py')) return { kind: 'stdio', definition: { command: python, args: [path] } };
  throw invalid(name, `is '${path}', which is not an http(s) URL or the path of a .js, .ts or .py script`);
}

function toHttpUrl(value: unknown): URL | undefined {
  try {
    const url = new URL(value as string | URL);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
  } catch {
    return undefined;
  }
}

function requireKnownOptions(name: string, value: Record<string, unknown>, target: keyof typeof optionsByTarget): void {
  const known = Object.keys(optionsByTarget[target]);
  const unknown = Object.keys(value).filter((key) => value[key] !== undefined && !known.includes(key));
  if (unknown.length === 0) return;
  throw new QuiverError(
    'SERVER_DEFINITION_INVALID',
    `MCP server '${name}' is defined with '${unknown.join(', ')}', which is not an option together with \`${target}\`. Known: ${known.join(', ')}.`,
    { details: { server: name, unknown } },
  );
}

function conflict(name: string, options: string): QuiverError {
  return new QuiverError(
    'SERVER_DEFINITION_INVALID',
    `MCP server '${name}' is defined with ${options}, which is not possible. Remove one of the options.`,
    { details: { server: name } },
  );
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return value === null || value === undefined ? String(value) : `a ${typeof value}`;
}

function invalid(name: string, problem: string): QuiverError {
  return new QuiverError(
    'SERVER_DEFINITION_INVALID',
    `MCP server '${name}' needs either a \`command\` to start, an http(s) \`url\` to connect to, or a \`server\` of this process, but its definition ${problem}.`,
    { details: { server: name } },
  );
}
