import type { Logger } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import type { AgentLike, WorkflowLike } from '@quiver/core/agent';
import type { Icon } from '../resource.js';
import type { CacheHints } from './cache-hints.js';
import type { RequestStateOptions } from './request-state.js';
import type { MCPServerPrompts, MCPServerResources } from './server-callbacks.js';
import type { ServerEventBus } from './subscribers.js';
import type { ToolsInput, ToolType } from './tool-registry.js';

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
  /**
   * Agents of Quiver, the AI SDK or Mastra: each becomes the tool `ask_<key>`. Needs a description.
   */
  agents?: Record<string, AgentLike>;
  /** Workflows that clients can run: each becomes the tool `run_<key>`. Needs a description. */
  workflows?: Record<string, WorkflowLike>;
  /** Data that clients can read. */
  resources?: MCPServerResources;
  /** Templates of messages that users choose. */
  prompts?: MCPServerPrompts;
  description?: string;
  /** Name for people; `name` is for programs. */
  title?: string;
  /** Shown by clients. */
  icons?: Icon[];
  websiteUrl?: string;
  /** Text that tells the client's model how to use the server. */
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
  /** Signs the state of `input_required` rounds. Set a key when several instances serve one URL. */
  requestState?: RequestStateOptions;
  /**
   * Whether clients receive a reference to the log instead of the messages of exceptions. Turn it on for untrusted clients, for example with
   * `process.env.NODE_ENV === 'production'`. Messages about invalid arguments and results with `isError` are sent in both cases.
   * Default `false`: a model can correct its call with the message.
   */
  maskErrors?: boolean;
  /** Items per page of a list. Default 1000. */
  pageSize?: number;
  /** Time for which modern clients may cache lists and resources, by method. Default: no caching. */
  cacheHints?: CacheHints;
  /** Carries change events between the instances of a server. Default: within this process. */
  eventBus?: ServerEventBus;
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
  toolType: ToolType;
}

export interface ToolListInfo {
  tools: ToolInfo[];
}
