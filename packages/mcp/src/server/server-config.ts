import type { Logger } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import type { RequestStateOptions } from './modern/request-state.js';
import type { ToolsInput } from './tool-registry.js';

export interface Repository {
  /** Where the source is, for example `https://github.com/acme/weather`. */
  url: string;
  /** The hosting service, for example `github`. */
  source: string;
  /** The repository's id at that service. */
  id: string;
}

/** A package that contains the server. */
export interface PackageInfo {
  /** For example `npm`. */
  registry_name: string;
  name: string;
  version: string;
  [key: string]: unknown;
}

/** A running instance of the server. */
export interface RemoteInfo {
  /** For example `streamable-http`. */
  transport_type: string;
  url: string;
  [key: string]: unknown;
}

export interface MCPServerConfig {
  /** Stable identifier. Default: a random UUID. */
  id?: string;
  /** Name that clients show. */
  name: string;
  version: string;
  /** Tools by the name clients call them by. */
  tools: ToolsInput;
  description?: string;
  /** Tells the model of a client how to use the server. */
  instructions?: string;
  repository?: Repository;
  /** The registry that is authoritative for the packages, for example `npm`. */
  packageCanonical?: string;
  packages?: PackageInfo[];
  remotes?: RemoteInfo[];
  /** ISO 8601. Default: now. */
  releaseDate?: string;
  /** Default `true`. */
  isLatest?: boolean;
  /** Signs the questions of tools to clients of the stateless revision. Set a key when several instances serve one URL. */
  requestState?: RequestStateOptions;
  /** Receives warnings, such as tools that cannot be served. Default: the default logger of `@quiver/core`. */
  logger?: Logger;
}

export interface ServerInfo {
  id: string;
  name: string;
  description?: string;
  repository?: Repository;
  version_detail: { version: string; release_date: string; is_latest: boolean };
}

export interface ServerDetail extends ServerInfo {
  package_canonical?: string;
  packages?: PackageInfo[];
  remotes?: RemoteInfo[];
}

export interface ToolInfo {
  id: string;
  name: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  toolType: 'tool';
}

export interface ToolListInfo {
  tools: ToolInfo[];
}
