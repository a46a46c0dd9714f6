import { defined } from '../../defined.js';
import { isObject } from '../../protocol/json-rpc.js';
import { configError, expandVariables, readTextFile, type ConfigFile } from './config-variables.js';
import { toHttpUrl } from './parse-server-definition.js';
import type { MastraMCPServerDefinition } from './server-definition.js';

/** Definition of one server, and the settings of its entry that have no effect. */
export interface ConfigEntry {
  readonly definition: MastraMCPServerDefinition;
  readonly ignored: readonly string[];
}

/** One of them says what the entry defines. Windsurf and Gemini CLI have own names of the URL. */
const targets = ['command', 'url', 'serverUrl', 'httpUrl'];
const common = ['type', 'timeout', 'tools', 'includeTools', 'excludeTools', 'disabledTools'];
const ofProgram = [...common, 'command', 'args', 'env', 'envFile', 'cwd'];
const ofAddress = [...common, 'url', 'serverUrl', 'httpUrl', 'headers'];
/** Switches, which the caller has read, and notes without effect in any host. */
const silent: ReadonlySet<string> = new Set(['disabled', 'enabled', 'source', 'description', 'sandboxEnabled']);

const transports: ReadonlyMap<unknown, 'http' | 'sse' | undefined> = new Map([
  [undefined, undefined],
  ['sse', 'sse'],
  ['http', 'http'],
  ['streamableHttp', 'http'],
  ['streamable-http', 'http'],
]);

/** Hosts measure shorter timeouts in seconds, or ignore them, as Claude Code does. */
const leastTimeout = 1000;

/**
 * Translates the entry of one server, in the format of any host.
 *
 * @param key - place of the entry in the file, such as `servers.weather`
 * @throws `MCP_CONFIG_INVALID`, `MCP_CONFIG_VARIABLE_UNDEFINED`, `MCP_CONFIG_NOT_FOUND`
 */
export async function readConfigEntry(value: unknown, key: string, file: ConfigFile): Promise<ConfigEntry> {
  const place = { file, key };
  requireType(place, isObject(value), '', 'an object');
  const entry = withoutNesting(value as Record<string, unknown>);
  const [target = '', ...others] = targets.filter((name) => entry[name] !== undefined);
  const hasOneTarget = target !== '' && others.length === 0;
  requireType(place, hasOneTarget, '', `an object with one of ${targets.join(', ')}`);
  // Without its sandbox, the program could do more than its user allows.
  if (entry['sandboxEnabled'] === true)
    throw configError('MCP_CONFIG_INVALID', `requires a sandbox at ${key}, which does not exist here.`, place);
  const known = target === 'command' ? ofProgram : ofAddress;
  const used = Object.fromEntries(Object.entries(entry).filter(([name]) => known.includes(name)));
  const settings = (await expandVariables(used, key, file)) as Record<string, unknown>;
  const { timeout } = settings;
  const hasTimeout = typeof timeout === 'number' && timeout >= leastTimeout && !key.startsWith('context_servers.');
  const definition = {
    ...(target === 'command' ? await toProgram(settings, place) : toAddress(settings, target, place)),
    ...(hasTimeout && { timeout }),
    ...toSelection(settings, place),
  };
  const ignored = Object.keys(entry).filter(
    (name) => !(known.includes(name) || silent.has(name)) || (name === 'timeout' && !hasTimeout),
  );
  // An undefined member would replace a default that a program spreads the definition over, and make equal definitions differ.
  return { definition: defined(definition) as MastraMCPServerDefinition, ignored };
}

interface Place {
  readonly file: ConfigFile;
  readonly key: string;
}

/** Older files of Zed have `command: { path, args, env }`. */
function withoutNesting(entry: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(entry['command'])) return entry;
  const { path, ...command } = entry['command'];
  return { ...entry, ...command, command: path };
}

async function toProgram({ type, command, args, env, envFile, cwd }: Record<string, unknown>, place: Place) {
  requireType(place, [undefined, 'stdio', 'local'].includes(type as string), '.type', "'stdio' for a command");
  requireType(place, isText(command) && command !== '', '.command', 'text');
  requireType(place, args === undefined || isTextList(args), '.args', 'a list of texts');
  requireType(place, cwd === undefined || isText(cwd), '.cwd', 'text');
  requireTexts(place, '.env', env);
  if (envFile === undefined) return { command, args, env, cwd };
  requireType(place, isText(envFile), '.envFile', 'text');
  return { command, args, env: { ...(await readEnvFile(envFile as string, place)), ...(env as object) }, cwd };
}

async function readEnvFile(path: string, { file, key }: Place): Promise<Record<string, string>> {
  const { resolve } = await import('node:path');
  const { parseEnv } = await import('node:util');
  const text = await readTextFile(resolve(file.workspaceFolder, path), `${key}.envFile`, file);
  return parseEnv(text) as Record<string, string>;
}

function toAddress({ type, headers, ...settings }: Record<string, unknown>, target: string, place: Place) {
  const url = settings[target];
  requireType(place, transports.has(type), '.type', "'http' or 'sse' for a URL");
  requireType(place, isText(url) && toHttpUrl(url) !== undefined, `.${target}`, 'an http(s) URL');
  requireTexts(place, '.headers', headers);
  // VS Code falls back to HTTP+SSE, which is the default here.
  const hasFallback = type === 'http' && place.key.startsWith('servers.');
  const transport = target === 'httpUrl' ? 'http' : hasFallback ? undefined : transports.get(type);
  return { url, transport, requestInit: headers && { headers } };
}

/** Lists of tool names: of Gemini CLI, Copilot CLI (`tools`, where `*` is every tool) and Windsurf (`disabledTools`). */
function toSelection(
  { tools, includeTools = tools, excludeTools, disabledTools }: Record<string, unknown>,
  place: Place,
) {
  for (const [name, list] of Object.entries({ tools, includeTools, excludeTools, disabledTools }))
    requireType(place, list === undefined || isTextList(list), `.${name}`, 'a list of tool names');
  const allow = (includeTools as string[] | undefined)?.includes('*') ? undefined : includeTools;
  const deny = [excludeTools, disabledTools].flatMap((list) => (list ?? []) as string[]);
  if (allow === undefined && deny.length === 0) return {};
  return { tools: defined({ allow, deny: deny.length > 0 ? deny : undefined }) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function requireTexts(place: Place, member: string, value: unknown): void {
  if (value === undefined) return;
  requireType(place, isObject(value), member, 'an object of texts');
  for (const [name, text] of Object.entries(value as object))
    requireType(place, isText(text), `${member}.${name}`, 'text');
}

/** The message names the key, never the value, which may be a secret. */
function requireType({ file, key }: Place, isValid: boolean, member: string, type: string): void {
  if (isValid) return;
  const place = { file, key: `${key}${member}` };
  throw configError('MCP_CONFIG_INVALID', `is wrong: ${place.key} must be ${type}.`, place);
}
