import type { JsonSchema } from '@quiver/core/schema';
import { getToolId } from '@quiver/core/tools';
import type { ToolType } from '../tools/catalog.js';
import type { RegisteredTool } from '../call-extension.js';
import type { ServerConfig, PackageInfo, RemoteInfo, Repository } from './server-config.js';

/** Description of a server. */
export interface ServerInfo {
  id: string;
  name: string;
  description?: string;
  repository?: Repository;
  version_detail: { version: string; release_date: string; is_latest: boolean };
}

/** Description of a server with its packages and remote addresses. */
export interface ServerDetail extends ServerInfo {
  package_canonical?: string;
  packages?: PackageInfo[];
  remotes?: RemoteInfo[];
}

type Identity = Readonly<{ id: string; releaseDate: string }>;

/** Returns the description of a server. */
export function toServerInfo(config: ServerConfig, { id, releaseDate }: Identity): ServerInfo {
  const { name, version, description, repository, isLatest = true } = config;
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    ...(repository && { repository }),
    version_detail: { version, release_date: releaseDate, is_latest: isLatest },
  };
}

/** Returns the description of a server with its packages and remote addresses. */
export function toServerDetail(config: ServerConfig, identity: Identity): ServerDetail {
  const { packageCanonical, packages, remotes } = config;
  return {
    ...toServerInfo(config, identity),
    ...(packageCanonical !== undefined && { package_canonical: packageCanonical }),
    ...(packages && { packages }),
    ...(remotes && { remotes }),
  };
}

/** Description of one tool of a server. */
export interface ToolInfo {
  id: string;
  name: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  toolType: ToolType;
}

export function toToolInfo({ name, tool, toolType, listed }: RegisteredTool): ToolInfo {
  const { description, inputSchema, outputSchema } = listed;
  return {
    id: getToolId(tool) ?? name,
    name,
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    toolType,
  };
}

/** Descriptions of all tools of a server. */
export interface ToolListInfo {
  tools: ToolInfo[];
}
