import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { isObject } from '../../protocol/json-rpc.js';
import { parseServerDefinition } from './parse-server-definition.js';
import type { MastraMCPServerDefinition, ServerDefinition } from './server-definition.js';

export interface LoadMcpConfigOptions {
  /** Values of the variables. Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the `mcpServers` JSON of Claude Desktop, Cursor and others. In every text `${VAR}` becomes the variable's value and
 * `${VAR:-default}` the default when it is not set; `$${` stands for `${`. Servers with `disabled: true` are left out.
 *
 * A configuration file starts programs: it is code, so take it only from where you would take code.
 *
 * @throws `MCP_CONFIG_NOT_FOUND`, `MCP_CONFIG_INVALID`, `MCP_CONFIG_VARIABLE_UNDEFINED`; the messages name file, key and variable
 * @example
 * const mcp = new MCPClient(await loadMcpConfig('mcp.json'));
 */
export async function loadMcpConfig(
  path: string | URL,
  { env = process.env }: LoadMcpConfigOptions = {},
): Promise<{ servers: Record<string, ServerDefinition> }> {
  const file = String(path);
  const { mcpServers } = parse(file, await read(file, path));
  if (!isObject(mcpServers)) throw invalid(file, 'mcpServers', 'must be an object with one entry per server');
  const servers = Object.entries(mcpServers).flatMap(([name, entry]) => {
    const key = `mcpServers.${name}`;
    if (!isObject(entry)) throw invalid(file, key, 'must be an object');
    if (entry['disabled'] === true) return [];
    const definition = toDefinition(file, key, expand(entry, key, { file, env }) as Record<string, unknown>);
    parseServerDefinition(name, definition);
    return [[name, definition] as const];
  });
  return { servers: Object.fromEntries(servers) };
}

async function read(file: string, path: string | URL): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new QuiverError(
      'MCP_CONFIG_NOT_FOUND',
      `Cannot read the MCP configuration ${file}: ${toErrorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
}

function parse(file: string, text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new QuiverError('MCP_CONFIG_INVALID', `The MCP configuration ${file} is not JSON: ${toErrorMessage(error)}`, {
      cause: error,
    });
  }
  if (!isObject(parsed)) throw invalid(file, 'mcpServers', 'is missing');
  return parsed;
}

interface Expansion {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const variable = /\$?\$\{([^}:]*)(?::-([^}]*))?\}/g;

function expand(value: unknown, key: string, expansion: Expansion): unknown {
  if (typeof value === 'string') return expandText(value, key, expansion);
  if (Array.isArray(value)) return value.map((item, index) => expand(item, `${key}[${index}]`, expansion));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, expand(member, `${key}.${name}`, expansion)]),
  );
}

function expandText(text: string, key: string, { file, env }: Expansion): string {
  return text.replaceAll(variable, (whole: string, name: string, fallback: string | undefined) => {
    if (whole.startsWith('$$')) return whole.slice(1);
    const value = env[name];
    // As in a shell, `:-` also replaces an empty value.
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value !== undefined) return value;
    throw new QuiverError(
      'MCP_CONFIG_VARIABLE_UNDEFINED',
      `The MCP configuration ${file} uses \${${name}} at ${key}, and that variable is not set. Set it, or write \${${name}:-default}.`,
      { details: { file, key, variable: name } },
    );
  });
}

const transports: Readonly<Record<string, 'http' | 'sse'>> = {
  sse: 'sse',
  http: 'http',
  streamableHttp: 'http',
  'streamable-http': 'http',
};

function toDefinition(file: string, key: string, entry: Record<string, unknown>): MastraMCPServerDefinition {
  const { command, args, env, cwd, url, headers, type } = entry;
  if (typeof command === 'string') {
    if (args !== undefined && !(Array.isArray(args) && args.every((item) => typeof item === 'string')))
      throw invalid(file, `${key}.args`, 'must be a list of texts');
    if (cwd !== undefined && typeof cwd !== 'string') throw invalid(file, `${key}.cwd`, 'must be text');
    return {
      command,
      ...(args && { args: args as string[] }),
      ...(env !== undefined && { env: requireTexts(file, `${key}.env`, env) }),
      ...(cwd !== undefined && { cwd }),
    };
  }
  if (command !== undefined) throw invalid(file, `${key}.command`, 'must be text');
  if (typeof url !== 'string' || !URL.canParse(url))
    throw invalid(
      file,
      url === undefined ? key : `${key}.url`,
      url === undefined ? 'needs a command or a url' : 'must be a URL',
    );
  const transport = typeof type === 'string' && Object.hasOwn(transports, type) ? transports[type] : undefined;
  return {
    url,
    ...(transport && { transport }),
    ...(headers !== undefined && { requestInit: { headers: requireTexts(file, `${key}.headers`, headers) } }),
  };
}

function requireTexts(file: string, key: string, value: unknown): Record<string, string> {
  if (!isObject(value)) throw invalid(file, key, 'must be an object of texts');
  for (const [name, text] of Object.entries(value))
    if (typeof text !== 'string') throw invalid(file, `${key}.${name}`, 'must be text');
  return value as Record<string, string>;
}

function invalid(file: string, key: string, what: string): QuiverError {
  return new QuiverError('MCP_CONFIG_INVALID', `The MCP configuration ${file} is wrong: ${key} ${what}.`, {
    details: { file, key },
  });
}
