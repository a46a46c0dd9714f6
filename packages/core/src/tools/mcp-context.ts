import { QuiverError } from '../errors.js';

/** Authentication data of the request. The keys below are the common ones. */
export interface McpAuthInfo {
  token?: string;
  clientId?: string;
  scopes?: string[];
  /** Seconds since 1970. */
  expiresAt?: number;
  /** All other data that your middleware set on `req.auth`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- set by the application, in any shape
  extra?: Record<string, any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- set by the application, in any shape
  [key: string]: any;
}

/** The MCP request of a tool call. */
export interface McpExtra {
  authInfo?: McpAuthInfo;
  /** Absent over stdio and in requests without a session. */
  sessionId?: string;
  requestId?: string | number;
  /** `_meta` of the request. */
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  /**
   * HTTP headers of the request, with names in lower case; empty over stdio. `authorization` is absent when authentication hides
   * the token from tools.
   */
  readonly requestInfo?: { readonly headers: Readonly<Record<string, string>> } | undefined;
  /** Name and version that the client states; not verified. `undefined` when the client states none. */
  readonly clientInfo?:
    | { readonly name: string; readonly version: string; readonly [key: string]: unknown }
    | undefined;
  /** Aborts when the client cancels the request or disconnects. */
  signal?: AbortSignal;
  sendNotification?: (notification: { method: string; params?: Record<string, unknown> }) => Promise<void>;
  /**
   * Closes the event stream of the request. The client reconnects later and receives the response, so that a long call holds no
   * connection. Has no effect without a session and an `eventStore`.
   */
  closeSSEStream?: () => void;
  sendRequest?: (request: { method: string; params?: Record<string, unknown> }, ...rest: unknown[]) => Promise<unknown>;
}

/** A form mode elicitation request. The requested schema is a flat object of strings, numbers, booleans and enums. */
export interface ElicitRequest {
  mode?: 'form';
  message: string;
  requestedSchema: { type: 'object'; properties: Record<string, unknown>; required?: string[] } & Record<
    string,
    unknown
  >;
}

/** A URL mode elicitation request, for data that must not pass through the client: passwords, payments, consent. */
export interface ElicitUrlRequest {
  mode: 'url';
  /** Explains to the user why the page is needed. */
  message: string;
  /** URL with `https`, or with `http` on a loopback address. The client shows it and requests consent before it opens the page. */
  url: string;
  /** Identifies the page for clients of 2025-11-25. Default: random. */
  elicitationId?: string;
}

/** The user's response to an elicitation request. */
export interface ElicitResult {
  action: 'accept' | 'decline' | 'cancel';
  /** Data of the form. Present only when `action` is `accept`, and never in URL mode. */
  // oxlint-disable-next-line typescript/no-explicit-any -- its shape is the requested schema
  content?: any;
}

/** Options of a request to the client. */
export interface ElicitOptions {
  /** Identifies a conditional request between input rounds. Default: the order of the requests. */
  key?: string;
  /** Timeout in milliseconds. */
  timeout?: number;
  signal?: AbortSignal;
}

/** One part of a message to or from the model of the client: text, image, audio, tool use or tool result. */
export interface SamplingContent {
  type: string;
  [member: string]: unknown;
}

/** A message to or from the model of the client. */
export interface SamplingMessage {
  role: 'user' | 'assistant';
  content: SamplingContent | SamplingContent[];
}

/** A sampling request. The client may show it to its user, change it or reject it. */
export interface SampleRequest {
  messages: SamplingMessage[];
  /** Maximum number of tokens of the completion. */
  maxTokens: number;
  systemPrompt?: string;
  /** Hints and priorities by which the client chooses a model. */
  modelPreferences?: Record<string, unknown>;
  temperature?: number;
  stopSequences?: string[];
  includeContext?: 'none' | 'thisServer' | 'allServers';
  metadata?: Record<string, unknown>;
  /** Tools that the model may call. Only clients that declare `sampling.tools` support them. */
  tools?: object[];
  toolChoice?: { mode?: 'auto' | 'required' | 'none' };
}

/** Completion of a sampling request. */
export interface SampleResult extends SamplingMessage {
  /** The joined text parts of the completion. */
  text: string;
  /** Name of the model, as reported by the client. */
  model: string;
  stopReason?: string;
  [member: string]: unknown;
}

/** A root that the client exposes, such as a project folder. */
export interface McpRoot {
  /** A `file:` URL. */
  uri: string;
  name?: string;
}

/** Access of a tool to the MCP client that called it. */
export interface ToolMcpContext {
  /** `undefined` when the tool was not called through MCP. */
  readonly extra?: McpExtra | undefined;
  readonly elicitation: {
    /**
     * Sends an elicitation request to the client.
     *
     * @throws `TOOL_NOT_CALLED_THROUGH_MCP` outside an MCP call, `ELICITATION_NOT_SUPPORTED` if the client does not support the mode,
     *   `ELICITATION_FAILED` if the client reports an error, `ELICITATION_ANSWER_INVALID` if the answer does not match the requested
     *   schema, `ELICITATION_SCHEMA_INVALID` for a schema with nested objects. In a task, the request waits for a client that supports it
     */
    sendRequest(request: ElicitRequest | ElicitUrlRequest, options?: ElicitOptions): Promise<ElicitResult>;
  };
  /**
   * Sends a sampling request to the client.
   *
   * @throws `TOOL_NOT_CALLED_THROUGH_MCP` outside an MCP call, `SAMPLING_NOT_SUPPORTED` if the client does not support sampling
   */
  sample(request: SampleRequest, options?: ElicitOptions): Promise<SampleResult>;
  /**
   * Requests the roots of the client.
   *
   * @throws `TOOL_NOT_CALLED_THROUGH_MCP` outside an MCP call, `ROOTS_NOT_SUPPORTED` if the client does not support roots
   */
  roots(options?: ElicitOptions): Promise<McpRoot[]>;
  /** Capabilities that the client declared, for example `{ elicitation: {}, sampling: {} }`; `undefined` outside an MCP call. */
  readonly clientCapabilities?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Id of the call, which stays the same when the tool runs again with the answers of a user (2026-07-28): a key that makes the effects of
   * the tool single. `undefined` outside an MCP call.
   */
  readonly callId?: string | undefined;
  /** Sends a progress notification. Has no effect if the caller did not request progress. */
  progress(update: { progress: number; total?: number; message?: string }): Promise<void>;
  /** Sends a log message to the client, at one of the protocol's eight levels. */
  log(level: string, message: string, data?: unknown): Promise<void>;
}

/**
 * The `context.mcp` of every call outside MCP. It discards progress and logs, and rejects requests to the client with
 * `TOOL_NOT_CALLED_THROUGH_MCP`.
 */
export const noMcpContext: ToolMcpContext = Object.freeze({
  extra: undefined,
  elicitation: Object.freeze({ sendRequest: () => Promise.reject(noClient('user input')) }),
  sample: () => Promise.reject(noClient("a completion of the client's model")),
  roots: () => Promise.reject(noClient("the client's roots")),
  clientCapabilities: undefined,
  progress: () => Promise.resolve(),
  log: () => Promise.resolve(),
});

function noClient(what: string): QuiverError {
  return new QuiverError(
    'TOOL_NOT_CALLED_THROUGH_MCP',
    `Cannot request ${what}: the tool was not called through an MCPServer, so it has no client. Check \`context.mcp.extra\` before the request.`,
  );
}
