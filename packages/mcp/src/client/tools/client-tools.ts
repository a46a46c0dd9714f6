import { getDefaultLogger, QuiverError } from '@quiver/core';
import type { ProtocolTool } from '../../protocol/client-types.js';
import { askServers, logMissing, type Answers, type ServerErrorDetails } from '../server/ask-servers.js';
import { requireServer, type ClientServers } from '../server/client-servers.js';
import { createRemoteTool, type RemoteTool } from './remote-tool.js';
import type { ListOptions } from '../features/resources.js';
import type { ServerHandle } from '../server/server-handle.js';
import { nameTools, selectTools, type SelectedTool } from './tool-selection.js';

/** Tools of the servers, and the errors of unavailable servers. */
export interface ToolsWithErrors<Tools> {
  /** Including the last known tools of unavailable servers. */
  tools: Tools;
  /** Error per unavailable server, and one line per malformed definition. */
  errors: Record<string, string>;
  errorDetails: Record<string, ServerErrorDetails>;
  /** Milliseconds per server. */
  durations: Record<string, number>;
}

/** The tools of all servers as plain data, by server. It survives JSON. */
export type ToolCatalogue = Record<string, ProtocolTool[]>;

/** Requests the tool definitions of all servers. */
export function askForDefinitions(
  servers: ClientServers,
  { perServerTimeoutMs }: ListOptions = {},
): Promise<Answers<ProtocolTool[]>> {
  return askServers<ServerHandle, ProtocolTool[]>({
    servers: servers.values(),
    ask: async ({ tools }) => {
      const { items, error } = await tools.get();
      return { answer: [...items], error };
    },
    perServerTimeoutMs,
  });
}

/**
 * Creates tools from definitions, as one set: selected and renamed as configured, with unique names.
 *
 * @throws `MCP_SERVER_UNKNOWN`
 */
export function toToolSet(servers: ClientServers, catalogue: ToolCatalogue): Record<string, RemoteTool> {
  const lists = Object.entries(catalogue).map(([serverName, list]) => {
    const server = requireServer(servers, serverName);
    const { toolPrefix = serverName } = server.options;
    return [server, toolPrefix, selectTools(list, server.options)] as [ServerHandle, string | false, SelectedTool[]];
  });
  const { named, collisions } = nameTools(lists);
  if (collisions.length > 0)
    getDefaultLogger().warn(`Several MCP tools would have these names and got longer ones: ${collisions.join(', ')}.`);
  return Object.fromEntries(named.map(({ server, tool, id }) => [id, createRemoteTool({ server, id, tool })]));
}

/** Creates tools from definitions by server, under the original names. */
export function toToolsets(
  servers: ClientServers,
  catalogue: ToolCatalogue,
): Record<string, Record<string, RemoteTool>> {
  const toolsets = Object.entries(catalogue).map(([serverName, list]) => {
    const server = requireServer(servers, serverName);
    const tools = selectTools(list, server.options).map(({ tool, name }) => [
      name,
      createRemoteTool({ server, id: name, tool }),
    ]);
    return [serverName, Object.fromEntries(tools) as Record<string, RemoteTool>];
  });
  return Object.fromEntries(toolsets) as Record<string, Record<string, RemoteTool>>;
}

/**
 * Logs the errors of servers whose tools are missing.
 *
 * @throws an error with this code when no server is available and nothing is cached
 */
export function reportMissingTools(
  servers: ClientServers,
  { data, errors }: Pick<Answers<ProtocolTool[]>, 'data' | 'errors'>,
  code: string,
): void {
  const reasons = Object.values(errors);
  if (reasons.length > 0 && Object.keys(data).length === 0 && reasons.length === servers.size) {
    throw new QuiverError(code, `Could not list the tools of any MCP server. ${reasons.join(' ')}`, {
      details: { errors },
    });
  }
  logMissing('Tools', errors);
}
