import { getDefaultLogger } from '@quiver/core';
import type { ProtocolTool } from '../../protocol/types.js';
import { hasInvisibleText } from '../../protocol/invisible-text.js';
import { isObject } from '../../protocol/json-rpc.js';
import type { Caller } from '../config/caller.js';
import type { ToolSelection } from '../config/tool-options.js';
import type { RemoteServer } from '../remote/remote-server.js';
import type { Answers, SharedServers } from '../remote/shared-servers.js';
import { toSha256 } from '../remote/tool-definitions.js';
import { createRemoteTool, type RemoteTool } from './remote-tool.js';

/** Tools of the servers, also the last known ones of unavailable servers, and their errors: one line per malformed definition. */
export interface ToolsWithErrors extends Omit<Answers<unknown>, 'data'> {
  tools: Record<string, RemoteTool>;
}

/** The tools of all servers as plain data, by server. It survives JSON. */
export type ToolCatalogue = Record<string, ProtocolTool[]>;

/**
 * Creates tools from definitions, as one set: selected and renamed as configured, with unique names that every model provider accepts.
 * Where two names would be equal, both end in a hash, so that no server can take over the name of another server's tool.
 *
 * @throws `MCP_SERVER_UNKNOWN`
 */
export function toToolSet(
  servers: SharedServers,
  catalogue: ToolCatalogue,
  caller: Caller,
): Record<string, RemoteTool> {
  const entries = Object.entries(catalogue).flatMap(([serverName, list]) => {
    const server = servers.require(serverName);
    const { toolPrefix: prefix = serverName } = server.options;
    return selectTools(list, server).map((selected) => {
      return { server, prefix, ...selected, id: toToolName(prefix, selected.name) };
    });
  });
  const seen = new Set<string>();
  const collisions = new Set<string>();
  for (const { id } of entries) (seen.has(id) ? collisions : seen).add(id);
  if (collisions.size > 0)
    getDefaultLogger().warn(
      `Several MCP tools would have these names and got longer ones: ${[...collisions].join(', ')}.`,
    );
  const tools = entries.map(({ server, prefix, tool, name, id: plain }) => {
    // Without prefix the hash is made of the server's name too, or equal names would have equal hashes.
    const id = collisions.has(plain) ? toToolName(prefix, name, collisions, server.name) : plain;
    return [id, createRemoteTool(server, id, tool, caller)] as const;
  });
  return Object.fromEntries(tools);
}

/** Creates tools from definitions by server, under the original names. */
export function toToolsets(
  servers: SharedServers,
  catalogue: ToolCatalogue,
  caller: Caller,
): Record<string, Record<string, RemoteTool>> {
  const toolsets = Object.entries(catalogue).map(([serverName, list]) => {
    const server = servers.require(serverName);
    const tools = selectTools(list, server).map(
      ({ tool, name }) => [name, createRemoteTool(server, name, tool, caller)] as const,
    );
    return [serverName, Object.fromEntries(tools)] as const;
  });
  return Object.fromEntries(toolsets);
}

/**
 * Returns whether models may call a tool. Others are for the user interface of the server.
 *
 * @see [MCP Apps, tool visibility](https://apps.extensions.modelcontextprotocol.io/api/types/app.McpUiToolVisibility.html)
 */
function isForModels({ _meta }: ProtocolTool): boolean {
  const ui = _meta?.['ui'];
  const visibility = isObject(ui) ? ui['visibility'] : undefined;
  return !Array.isArray(visibility) || visibility.length === 0 || visibility.includes('model');
}

/** Returns the selected tools with their configured names, without prefix. Tools with misleading names are left out. */
function selectTools(
  list: readonly ProtocolTool[],
  { name: serverName, options }: RemoteServer,
): { readonly tool: ProtocolTool; readonly name: string }[] {
  const { allow, deny, filter, rename }: NonNullable<ToolSelection['tools']> = options.tools ?? {};
  const selected = list.filter(
    (tool) =>
      isForModels(tool) &&
      (!allow || allow.includes(tool.name)) &&
      !deny?.includes(tool.name) &&
      (!filter || filter(tool)),
  );
  const nameOf = (name: string): string => {
    if (typeof rename === 'function') return rename(name);
    return (rename && Object.hasOwn(rename, name) && rename[name]) || name;
  };
  return selected.flatMap((tool) => {
    if (!hasInvisibleText(tool.name)) return [{ tool, name: nameOf(tool.name) }];
    getDefaultLogger().warn(
      `Left out the tool '${tool.name}' of MCP server '${serverName}': its name has characters that nobody sees.`,
    );
    return [];
  });
}

/** Model providers take at most 64 of `A-Z a-z 0-9 _ -`. */
const maxLength = 64;
const hashLength = 8;

/**
 * Returns a name that every model provider accepts: `<prefix>_<tool>`. One that is too long or taken ends in a hash of the original names, so
 * that the tool has the same name in every process.
 *
 * @param serverName - part of the hash. Default: the prefix
 */
export function toToolName(
  prefix: string | false,
  toolName: string,
  taken?: ReadonlySet<string>,
  serverName: string = prefix || '',
): string {
  const name = (prefix === false ? toolName : `${prefix}_${toolName}`).replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (name !== '' && name.length <= maxLength && !taken?.has(name)) return name;
  const hash = toSha256(`${serverName}\0${toolName}`).slice(0, hashLength);
  return `${name.slice(0, maxLength - hashLength - 1)}_${hash}`;
}
