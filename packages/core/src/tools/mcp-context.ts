import { QuiverError } from '../errors.js';

/** Data that authentication set on the request; the keys below are the usual ones. */
export interface McpAuthInfo {
  token?: string;
  clientId?: string;
  scopes?: string[];
  /** Seconds since 1970. */
  expiresAt?: number;
  /** Everything else that your middleware set on `req.auth`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- set by the application, in any shape
  extra?: Record<string, any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- set by the application, in any shape
  [key: string]: any;
}

/** The MCP request of a tool call. */
export interface McpExtra {
  authInfo?: McpAuthInfo;
  /** Absent over stdio and in stateless requests. */
  sessionId?: string;
  requestId?: string | number;
  /** `_meta` of the request. */
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  /**
   * HTTP headers of the request, with names in lower case; empty over stdio. `authorization` is left out when authentication hides
   * the token from tools.
   */
  readonly requestInfo?: { readonly headers: Readonly<Record<string, string>> } | undefined;
  /** Name and version that the client states; not verified. `undefined` when the client states none. */
  readonly clientInfo?:
    | { readonly name: string; readonly version: string; readonly [key: string]: unknown }
    | undefined;
  /** Fires when the client cancels the request or goes away. */
  signal?: AbortSignal;
  sendNotification?: (notification: { method: string; params?: Record<string, unknown> }) => Promise<void>;
  /**
   * Lets the client hang up and come back for the answer later, so that a long call holds no connection. Does nothing without a
   * session and an `eventStore`.
   */
  closeSSEStream?: () => void;
  sendRequest?: (request: { method: string; params?: Record<string, unknown> }, ...rest: unknown[]) => Promise<unknown>;
}

/** A question to the person in front of the client: a flat object of strings, numbers, booleans and enums. */
export interface ElicitRequest {
  mode?: 'form';
  message: string;
  requestedSchema: { type: 'object'; properties: Record<string, unknown>; required?: string[] } & Record<
    string,
    unknown
  >;
}

/** Sends the person to a web page, for what must not pass through the client: passwords, payments, consent. */
export interface ElicitUrlRequest {
  mode: 'url';
  /** Why they should go there. */
  message: string;
  /** `https`, or `http` on this machine. The client shows it and asks before it opens anything. */
  url: string;
  /** Identifies the page for clients of 2025-11-25. Default: random. */
  elicitationId?: string;
}

export interface ElicitResult {
  action: 'accept' | 'decline' | 'cancel';
  /** The answer; only when `action` is `accept`, and never to a URL. */
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

export interface SamplingMessage {
  role: 'user' | 'assistant';
  content: SamplingContent | SamplingContent[];
}

/** A request to the model of the client, which the client may show to its user, change or refuse. */
export interface SampleRequest {
  messages: SamplingMessage[];
  /** The most tokens the model may answer with. */
  maxTokens: number;
  systemPrompt?: string;
  /** Hints and priorities by which the client chooses a model. */
  modelPreferences?: Record<string, unknown>;
  temperature?: number;
  stopSequences?: string[];
  includeContext?: 'none' | 'thisServer' | 'allServers';
  metadata?: Record<string, unknown>;
  /** Tools that the model may ask for; only clients that declare `sampling.tools` take them. */
  tools?: object[];
  toolChoice?: { mode?: 'auto' | 'required' | 'none' };
}

export interface SampleResult extends SamplingMessage {
  /** The text of the answer: all its text parts, joined. */
  text: string;
  /** The model that answered, in the client's words. */
  model: string;
  stopReason?: string;
  [member: string]: unknown;
}

/** A place that the client works on, such as a project folder. */
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
     * Asks the user.
     *
     * @throws `TOOL_NOT_CALLED_THROUGH_MCP` outside an MCP call, `ELICITATION_NOT_SUPPORTED` where the client has no way to ask
     */
    sendRequest(request: ElicitRequest | ElicitUrlRequest, options?: ElicitOptions): Promise<ElicitResult>;
  };
  /**
   * Asks the model of the client.
   *
   * @throws `TOOL_NOT_CALLED_THROUGH_MCP` outside an MCP call, `SAMPLING_NOT_SUPPORTED` where the client lends no model
   */
  sample(request: SampleRequest, options?: ElicitOptions): Promise<SampleResult>;
  /**
   * Asks the client what it works on.
   *
   * @throws `TOOL_NOT_CALLED_THROUGH_MCP` outside an MCP call, `ROOTS_NOT_SUPPORTED` where the client has none to tell
   */
  roots(options?: ElicitOptions): Promise<McpRoot[]>;
  /** Capabilities that the client declared, for example `{ elicitation: {}, sampling: {} }`; `undefined` outside an MCP call. */
  readonly clientCapabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Reports progress; does nothing when the caller asked for none. */
  progress(update: { progress: number; total?: number; message?: string }): Promise<void>;
  /** Sends a log message to the client, at one of the protocol's eight levels. */
  log(level: string, message: string, data?: unknown): Promise<void>;
}

/**
 * The `context.mcp` of every call that did not come through MCP: nothing is known, progress and logs go nowhere, and a
 * question is refused with an error that says why.
 */
export const noMcpContext: ToolMcpContext = Object.freeze({
  extra: undefined,
  elicitation: Object.freeze({ sendRequest: () => Promise.reject(noClient('user input')) }),
  sample: () => Promise.reject(noClient("an answer of the client's model")),
  roots: () => Promise.reject(noClient("the client's roots")),
  clientCapabilities: undefined,
  progress: () => Promise.resolve(),
  log: () => Promise.resolve(),
});

function noClient(what: string): QuiverError {
  return new QuiverError(
    'TOOL_NOT_CALLED_THROUGH_MCP',
    `The tool asked for ${what}, but it was not called through an MCPServer, so there is no client to ask. Check \`context.mcp.extra\` before asking.`,
  );
}
