import type { McpExtra, ToolMcpContext } from '@quiver/core/tools';
import type { Prompt, PromptMessage } from '../prompt.js';
import type { Resource, ResourceTemplate } from '../resource.js';

/** Request that a callback for resources or prompts answers. */
export interface CallbackContext {
  /** Caller and request: `authInfo`, `sessionId`, `signal`, and so on. */
  extra: McpExtra;
  /** As the `context.mcp` of tools: sends requests to the client, log messages and progress. */
  mcp: ToolMcpContext;
}

type MaybePromise<Value> = Value | PromiseLike<Value>;

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
  listPrompts: (context: CallbackContext) => MaybePromise<Prompt[]>;
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
  listResources: (context: CallbackContext) => MaybePromise<Resource[]>;
  /** Returns the content of a resource that is listed or matches a template; `undefined` when there is no such resource. */
  getResourceContent: (
    request: {
      uri: string;
      /** Values of the first template that matches; empty without one. */
      variables: UriVariables;
    } & CallbackContext,
  ) => MaybePromise<MCPServerResourceContent | MCPServerResourceContent[] | undefined>;
  /** Returns templates; every URI that matches one of them can be read. */
  resourceTemplates?: (context: CallbackContext) => MaybePromise<ResourceTemplate[]>;
  /** Suggests values for a variable of a template; at most 100 are sent. */
  completeVariable?: (request: CompletionRequest & { uriTemplate: string; variable: string }) => MaybePromise<string[]>;
}
