import type { Logger } from '@quiver/core';
import type { AgentLike, WorkflowLike } from '@quiver/core/agent';
import type { McpExtra, ToolMcpContext } from '@quiver/core/tools';
import type { CacheableMethod } from '../../protocol/methods.js';
import type { Prompt, PromptMessage } from '../../prompt.js';
import type { Icon, Resource, ResourceTemplate } from '../../resource.js';
import type { SharedStore } from '../../shared-store/shared-store.js';
import type { MaybePromise } from '../middleware/middleware.js';
import type { ScopedItem, Visible } from '../tools/catalog.js';
import type { RequestStateOptions } from '../client/request-state.js';
import type { ServerEventBus } from '../client/subscribers.js';
import type { ToolsInput } from '../tools/tool-registry.js';

/** Source repository of a server. */
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

/** Options of `MCPServer` without those of features. */
export interface ServerConfig {
  /** Stable identifier. Default: a random UUID. */
  id?: string;
  /** Name that clients show. */
  name: string;
  /** Version of the server, such as `1.0.0`. */
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
  /** One sentence about the server, for registries and clients. */
  description?: string;
  /** Name for people; `name` is for programs. */
  title?: string;
  /** Shown by clients. */
  icons?: Icon[];
  /** URL of the home page. */
  websiteUrl?: string;
  /** Text that tells the client's model how to use the server. */
  instructions?: string;
  /** Source repository, as in the MCP registry. */
  repository?: Repository;
  /** The registry that is authoritative for the packages, for example `npm`. */
  packageCanonical?: string;
  /** Packages of the server, as in the MCP registry. */
  packages?: PackageInfo[];
  /** Public endpoints of the server, as in the MCP registry. */
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
  /**
   * Returns whether a caller can see a tool, resource, template or prompt. Hidden items are in no list, and requests that name them have
   * the response of items that do not exist. Default: all callers see the items whose `mcp.scopes` they have.
   */
  visible?: Visible;
  /** Items per page of a list. Default 1000. */
  pageSize?: number;
  /** Time for which modern clients may cache lists and resources, by method. Default: lists 5 s, anything else not at all. */
  cacheHints?: CacheHints;
  /** Carries change events between the instances of a server. Default: within this process. */
  eventBus?: ServerEventBus;
  /**
   * State that the instances of a server share, when several processes serve one URL. Default: none, and each process has its own
   * state.
   */
  sharedStore?: SharedStore;
  /** Receives warnings, such as tools that cannot be served. Default: the default logger of `@quiver/core`. */
  logger?: Logger;
}

/** Time and scope in which modern clients may cache a result. */
export interface CacheHint {
  /** Milliseconds; 0 means no caching. */
  ttlMs: number;
  /** `public` only for results that are the same for every caller. Default `private`. */
  cacheScope?: 'public' | 'private';
}

/** Hints by method; without a hint a list is cached for 5 s, and another result not at all. */
export type CacheHints = Partial<Record<CacheableMethod, CacheHint>>;

/** Request that a callback for resources or prompts answers. */
export interface CallbackContext {
  /** Caller and request: `authInfo`, `sessionId`, `signal`, and so on. */
  extra: McpExtra;
  /** As the `context.mcp` of tools: sends requests to the client, log messages and progress. */
  mcp: ToolMcpContext;
}

/** Request for suggestions while a user types. */
export interface CompletionRequest extends CallbackContext {
  /** Text that the user has typed so far. */
  value: string;
  /** Arguments or variables that have a value already. */
  resolved: Readonly<Record<string, string>>;
}

/** Callbacks behind a server's prompts. They run per request: one caller never sees the list of another. */
export interface MCPServerPrompts {
  /** Returns the prompts that clients can list. Several may share a name and differ by `version`. */
  listPrompts: (context: CallbackContext) => MaybePromise<(Prompt & ScopedItem)[]>;
  /** Returns the messages of one prompt; required arguments are present. */
  getPromptMessages?: (
    request: {
      name: string;
      version?: string;
      // oxlint-disable-next-line typescript/no-explicit-any -- strings by name on the wire; the specification leaves the type open
      args?: any;
    } & CallbackContext,
  ) => MaybePromise<PromptMessage[] | { prompt?: Prompt; messages: PromptMessage[] }>;
  /** Suggests values for an argument of a prompt; at most 100 are sent. */
  completeArgument?: (request: CompletionRequest & { name: string; argument: string }) => MaybePromise<string[]>;
}

/** Values of a template's variables in a URI, decoded once. */
export type UriVariables = Readonly<Record<string, string>>;

/** Text, or bytes (raw or in Base64). `uri` and `mimeType` default to those of the resource. */
export type MCPServerResourceContent = ({ text?: string } | { blob?: string | Uint8Array }) & {
  uri?: string;
  mimeType?: string;
  _meta?: Record<string, unknown>;
};

/** Callbacks behind a server's resources. They run per request: one caller never sees the list of another. */
export interface MCPServerResources {
  /** Returns the resources that clients can list. */
  listResources: (context: CallbackContext) => MaybePromise<(Resource & ScopedItem)[]>;
  /** Returns the content of a resource that is listed or matches a template; `undefined` when there is no such resource. */
  getResourceContent: (
    request: {
      uri: string;
      /** Values of the first template that matches; empty without one. */
      variables: UriVariables;
    } & CallbackContext,
  ) => MaybePromise<MCPServerResourceContent | MCPServerResourceContent[] | undefined>;
  /** Returns templates; every URI that matches one of them can be read. */
  resourceTemplates?: (context: CallbackContext) => MaybePromise<(ResourceTemplate & ScopedItem)[]>;
  /** Suggests values for a variable of a template; at most 100 are sent. */
  completeVariable?: (request: CompletionRequest & { uriTemplate: string; variable: string }) => MaybePromise<string[]>;
}
