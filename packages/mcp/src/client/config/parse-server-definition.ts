import { fileURLToPath } from 'node:url';
import type { QuiverError } from '@quiver/core';
import { checkOptions, invalidOptions } from '@quiver/core/internal';
import { isObject } from '../../protocol/json-rpc.js';
import { definitionChecks } from './definition-options.js';
import { isInProcessServer, isTransport } from './in-process-server.js';
import type {
  HttpServerDefinition,
  InProcessServerDefinition,
  ServerTarget,
  StdioServerDefinition,
} from './server-definition.js';

const targets = ['command', 'url', 'server'] as const;

/**
 * Parses one entry of `servers`.
 *
 * @throws `OPTIONS_INVALID` unless it names exactly one of a command, an http(s) URL and a server of this process, with known options
 */
export function parseServerDefinition(name: string, value: unknown): ServerTarget {
  if (typeof value === 'string' || value instanceof URL) return parseAddress(name, value);
  if (!isObject(value)) throw invalid(name, `is ${describeValue(value)}`);
  if (isInProcessServer(value) || isTransport(value)) return { kind: 'in-process', definition: { server: value } };
  const given = targets.filter((key) => value[key] !== undefined);
  const [target] = given;
  if (!target) throw invalid(name, 'names none of them');
  if (given.length > 1) throw invalid(name, `has ${given.map((key) => `\`${key}\``).join(' and ')}`);
  // The checks of the kind that the definition selects.
  checkOptions<object>(`MCP server '${name}', defined by \`${target}\`,`, value, definitionChecks[target], {
    details: { server: name },
  });
  // The option that selects the kind is checked here; TypeScript checks the other values.
  const { command, server, tls, fetch, auth, authProvider } = value;
  if (target === 'command') {
    if (typeof command !== 'string' || command === '') throw invalid(name, 'has an empty `command`');
    return { kind: 'stdio', definition: value as unknown as StdioServerDefinition };
  }
  if (target === 'server') {
    if (!isObject(server) || !(isInProcessServer(server) || isTransport(server)))
      throw invalid(name, 'has a `server` that is neither a server nor a transport');
    return { kind: 'in-process', definition: value as unknown as InProcessServerDefinition };
  }
  const url = toHttpUrl(value['url']);
  if (!url) throw invalid(name, `has the url '${String(value['url'])}'`);
  if (tls !== undefined && fetch !== undefined) throw conflict(name, '`tls` and `fetch`');
  if (auth !== undefined && authProvider !== undefined) throw conflict(name, '`auth` and `authProvider`');
  return { kind: 'http', definition: value as unknown as HttpServerDefinition, url };
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

export function toHttpUrl(value: unknown): URL | undefined {
  const url = URL.canParse(String(value)) ? new URL(String(value)) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

function conflict(name: string, options: string): QuiverError {
  return invalidOptions(
    `MCP server '${name}' is defined with ${options}, which is not possible. Remove one of the options.`,
    { details: { server: name } },
  );
}

/** Returns the kind of a value for an error message. */
export function describeValue(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  return value === null || value === undefined ? String(value) : `a ${typeof value}`;
}

function invalid(name: string, problem: string): QuiverError {
  return invalidOptions(
    `MCP server '${name}' needs either a \`command\` to start, an http(s) \`url\` to connect to, or a \`server\` of this process, but its definition ${problem}.`,
    { details: { server: name } },
  );
}
