import process from 'node:process';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { anyValue, checkOptions, type OptionChecks } from '@quiver/core/options';
import { isObject } from '../../protocol/json-rpc.js';
import { parseServerDefinition } from './parse-server-definition.js';
import type { MastraMCPServerDefinition, ServerDefinition } from './server-definition.js';

/** Options of `loadMcpConfig()`. */
export interface LoadMcpConfigOptions {
  /** Values of the variables. Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>;
}

const checks: OptionChecks<LoadMcpConfigOptions> = { env: anyValue };

/**
 * Reads the `mcpServers` JSON of Claude Desktop, Cursor and others. In every text `${VAR}` becomes the variable's value and
 * `${VAR:-default}` the default when it is not set; `$${` stands for `${`. Servers with `disabled: true` are left out.
 *
 * A configuration file starts programs: it is code, so take it only from where you would take code.
 *
 * @throws `OPTIONS_INVALID`, `MCP_CONFIG_NOT_FOUND`, `MCP_CONFIG_INVALID`, `MCP_CONFIG_VARIABLE_UNDEFINED`; the messages name file, key and variable
 * @example
 * const mcp = new MCPClient(await loadMcpConfig('mcp.json'));
 */
export async function loadMcpConfig(
  path: string | URL,
  options: LoadMcpConfigOptions = {},
): Promise<{ servers: Record<string, ServerDefinition> }> {
  checkOptions('loadMcpConfig', options, checks);
  const { env = process.env } = options;
  const file: ConfigFile = { name: String(path), env };
  const config = await readJson(path);
  const mcpServers = isObject(config) ? config['mcpServers'] : undefined;
  requireType(file, isObject(mcpServers), 'mcpServers', 'an object with one entry per server');
  const servers = Object.entries(mcpServers as object).flatMap(([name, entry]: [string, unknown]) => {
    const key = `mcpServers.${name}`;
    requireType(file, isObject(entry), key, 'an object');
    const { disabled, ...settings } = entry as Record<string, unknown>;
    if (disabled === true) return [];
    const definition = toDefinition(file, key, expand(settings, key, file) as Record<string, unknown>);
    parseServerDefinition(name, definition);
    return [[name, definition] as const];
  });
  return { servers: Object.fromEntries(servers) };
}

interface ConfigFile {
  readonly name: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

async function readJson(path: string | URL): Promise<unknown> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const message = `Cannot read the MCP configuration ${String(path)}: ${toErrorMessage(cause)}`;
    throw new QuiverError('MCP_CONFIG_NOT_FOUND', message, { cause });
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `The MCP configuration ${String(path)} is not JSON: ${toErrorMessage(cause)}`;
    throw new QuiverError('MCP_CONFIG_INVALID', message, { cause });
  }
}

const variable = /\$?\$\{([^}:]*)(?::-([^}]*))?\}/g;

/** Replaces the variables in all texts of a value. */
function expand(value: unknown, key: string, file: ConfigFile): unknown {
  if (Array.isArray(value)) return value.map((item, index) => expand(item, `${key}[${index}]`, file));
  if (isObject(value)) {
    const entries = Object.entries(value).map(([name, member]) => [name, expand(member, `${key}.${name}`, file)]);
    return Object.fromEntries(entries);
  }
  if (typeof value !== 'string') return value;
  return value.replaceAll(variable, (whole: string, name: string, fallback: string | undefined) => {
    if (whole.startsWith('$$')) return whole.slice(1);
    const known = file.env[name];
    // As in a shell, `:-` also replaces an empty value.
    if (fallback !== undefined) return known === undefined || known === '' ? fallback : known;
    if (known !== undefined) return known;
    throw new QuiverError(
      'MCP_CONFIG_VARIABLE_UNDEFINED',
      `The MCP configuration ${file.name} uses \${${name}} at ${key}, and that variable is not set. Set it, or write \${${name}:-default}.`,
      { details: { file: file.name, key, variable: name } },
    );
  });
}

const transports: ReadonlyMap<unknown, 'http' | 'sse'> = new Map([
  ['sse', 'sse'],
  ['http', 'http'],
  ['streamableHttp', 'http'],
  ['streamable-http', 'http'],
]);

function toDefinition(file: ConfigFile, key: string, entry: Record<string, unknown>): MastraMCPServerDefinition {
  const { command, args, env, cwd, url, headers, type } = entry;
  if (command !== undefined) {
    const areTexts = args === undefined || (Array.isArray(args) && args.every(isText));
    requireType(file, isText(command), `${key}.command`, 'text');
    requireType(file, areTexts, `${key}.args`, 'a list of texts');
    requireType(file, cwd === undefined || isText(cwd), `${key}.cwd`, 'text');
    requireTexts(file, `${key}.env`, env);
    // The types have been checked.
    return withoutUndefined({ command, args, env, cwd }) as MastraMCPServerDefinition;
  }
  requireType(file, url !== undefined, key, 'an object with a command or a url');
  requireType(file, isText(url) && URL.canParse(url), `${key}.url`, 'a URL');
  requireTexts(file, `${key}.headers`, headers);
  const requestInit = headers && { headers };
  return withoutUndefined({ url, transport: transports.get(type), requestInit }) as MastraMCPServerDefinition;
}

/** An undefined member would replace a default that a program spreads the definition over, and make equal definitions differ. */
function withoutUndefined(definition: object): object {
  return Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function requireTexts(file: ConfigFile, key: string, value: unknown): void {
  if (value === undefined) return;
  requireType(file, isObject(value), key, 'an object of texts');
  for (const [name, text] of Object.entries(value as object)) requireType(file, isText(text), `${key}.${name}`, 'text');
}

function requireType(file: ConfigFile, isValid: boolean, key: string, type: string): void {
  if (isValid) return;
  throw new QuiverError('MCP_CONFIG_INVALID', `The MCP configuration ${file.name} is wrong: ${key} must be ${type}.`, {
    details: { file: file.name, key },
  });
}
