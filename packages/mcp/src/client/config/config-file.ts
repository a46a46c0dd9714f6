import { getDefaultLogger, isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import { unchecked, checkOptions, functionValue, type OptionChecks, stringValue } from '@quiver/core/internal';
import { isObject } from '../../protocol/json-rpc.js';
import type { ParseError } from 'jsonc-parser';
import { readConfigEntry } from './config-entry.js';
import { configError, type ConfigFile } from './config-variables.js';
import type { ServerDefinition } from './server-definition.js';

/** Options of `loadMcpConfig()`. */
export interface LoadMcpConfigOptions {
  /** Values of the variables. Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Values of the `inputs` that a file of VS Code requests from its user, by id. Default: the `default` of the input. */
  inputs?: Readonly<Record<string, string | undefined>>;
  /** Folder of `${workspaceFolder}`. Default: the folder that contains `.vscode`, `.cursor` or the like; otherwise the folder of the file. */
  workspaceFolder?: string;
  /** Receives every server that is left out, and every setting without effect. Default: an invalid server throws, others are logged. */
  onSkip?: (skipped: SkippedMcpSetting) => void;
}

/** A server of a configuration file that was left out, or a setting that has no effect. It contains no value of the file. */
export interface SkippedMcpSetting {
  /** Name of the server. */
  server: string;
  /** Place in the file, such as `mcpServers.weather.auth`. */
  key: string;
  /** `disabled`: by the file. `invalid`: the server cannot be defined, see `error`. `ignored`: it is defined without this setting. */
  reason: 'disabled' | 'invalid' | 'ignored';
  /** Error of an `invalid` server. */
  error?: QuiverError;
}

const checks: OptionChecks<LoadMcpConfigOptions> = {
  ...unchecked<LoadMcpConfigOptions>()('env', 'inputs'),
  workspaceFolder: stringValue,
  onSkip: functionValue,
};

/** Members with the servers. `servers` belongs to VS Code, `context_servers` to Zed. */
const serverKeys = ['mcpServers', 'context_servers', 'servers'];

/**
 * Reads the servers of a file of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed or Gemini CLI: JSON, with comments. Files
 * in TOML or YAML are not read.
 *
 * Variables: `${NAME}` and `${env:NAME}`, both with an optional default as in `${NAME:-default}`; `$NAME` in the folder `.gemini`;
 * `${input:id}`, `${file:path}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, `${userHome}`, `${pathSeparator}`. `$${` stands
 * for `${`. `envFile` needs Node.js 20.12 or newer.
 *
 * A server that cannot be defined is an error, or left out and passed to `onSkip`. A configuration file starts programs: it is code, so
 * take it only from where you would take code.
 *
 * @throws `OPTIONS_INVALID`, `MCP_CONFIG_NOT_FOUND`, `MCP_CONFIG_INVALID`; `MCP_CONFIG_VARIABLE_UNDEFINED` for a variable without a value;
 *   an error of `onSkip`
 * @example
 * const mcp = new MCPClient(await loadMcpConfig('.vscode/mcp.json', { inputs: { key: process.env.WEATHER_KEY } }));
 */
export async function loadMcpConfig(
  path: string | URL,
  options: LoadMcpConfigOptions = {},
): Promise<{ servers: Record<string, ServerDefinition> }> {
  checkOptions('loadMcpConfig', options, checks);
  const config = await readJsonc(path);
  const file = await toConfigFile(path, config, options);
  const { onSkip = (skipped: SkippedMcpSetting) => throwOrLog(file, skipped) } = options;
  const [serversKey = 'mcpServers', ...others] = serverKeys.filter((key) => isObject(config[key]));
  const entries = config[serversKey];
  if (!isObject(entries) || others.length > 0) {
    const problem = `is wrong: it must have one of the objects ${serverKeys.join(', ')}, with one entry per server.`;
    throw configError('MCP_CONFIG_INVALID', problem, { file, key: serversKey });
  }
  const servers: [string, ServerDefinition][] = [];
  for (const [server, entry] of Object.entries(entries)) {
    const key = `${serversKey}.${server}`;
    if (isDisabled(server, entry, config['mcp'])) {
      onSkip({ server, key, reason: 'disabled' });
      continue;
    }
    const result = await readConfigEntry(entry, key, file).catch(requireQuiverError);
    if (result instanceof Error) {
      onSkip({ server, key, reason: 'invalid', error: result });
      continue;
    }
    servers.push([server, result.definition]);
    for (const name of result.ignored) onSkip({ server, key: `${key}.${name}`, reason: 'ignored' });
  }
  return { servers: Object.fromEntries(servers) };
}

/** Each host has one of these switches. `mcp`, with the names of servers, belongs to Gemini CLI. */
function isDisabled(server: string, entry: unknown, mcp: unknown): boolean {
  const { disabled, enabled } = isObject(entry) ? entry : {};
  const { allowed, excluded } = isObject(mcp) ? mcp : {};
  const isExcluded = Array.isArray(excluded) && excluded.includes(server);
  return disabled === true || enabled === false || isExcluded || (Array.isArray(allowed) && !allowed.includes(server));
}

function throwOrLog(file: ConfigFile, { key, reason, error }: SkippedMcpSetting): void {
  if (error) throw error;
  const logger = getDefaultLogger();
  if (reason === 'disabled') logger.info(`The MCP configuration ${file.name} disables ${key}.`);
  else logger.warn(`The MCP configuration ${file.name} sets ${key}, which has no effect here.`);
}

function requireQuiverError(error: unknown): QuiverError {
  if (isQuiverError(error)) return error;
  throw error;
}

async function readJsonc(path: string | URL): Promise<Record<string, unknown>> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const message = `Cannot read the MCP configuration ${String(path)}: ${toErrorMessage(cause)}`;
    throw new QuiverError('MCP_CONFIG_NOT_FOUND', message, { cause });
  });
  const invalid = (problem: string): QuiverError =>
    new QuiverError('MCP_CONFIG_INVALID', `The MCP configuration ${String(path)} ${problem}`);
  if (/\.(toml|ya?ml)$/i.test(String(path)))
    throw invalid('is not JSON. Parse it, and pass command, args, env and url of each server to MCPClient.');
  const { getNodeValue, parseTree, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  const tree = parseTree(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  // The message never quotes the text: configuration files contain secrets.
  for (const { error, offset } of errors) {
    const lines = text.slice(0, offset).split('\n');
    const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
    throw invalid(`is not JSON: ${printParseErrorCode(error)} at ${place}.`);
  }
  // Objects without a prototype: a member `__proto__` is one like any other.
  const config: unknown = tree && getNodeValue(tree);
  return isObject(config) ? config : {};
}

async function toConfigFile(
  path: string | URL,
  config: Record<string, unknown>,
  options: LoadMcpConfigOptions,
): Promise<ConfigFile> {
  const { basename, dirname, resolve, sep } = await import('node:path');
  const { homedir } = await import('node:os');
  const { fileURLToPath } = await import('node:url');
  const folder = dirname(resolve(path instanceof URL ? fileURLToPath(path) : path));
  const isHostFolder = basename(folder).startsWith('.');
  const workspaceFolder = resolve(options.workspaceFolder ?? (isHostFolder ? dirname(folder) : folder));
  return {
    name: String(path),
    env: options.env ?? process.env,
    inputs: options.inputs ?? {},
    declaredInputs: config['inputs'],
    workspaceFolder,
    predefined: {
      workspaceFolder,
      workspaceFolderBasename: basename(workspaceFolder),
      userHome: homedir(),
      pathSeparator: sep,
      '/': sep,
    },
    hasShortNames: basename(folder) === '.gemini',
  };
}
