import { QuiverError } from '../errors.js';

/** Whatever authentication put on the request; the keys below are the usual ones. */
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

/** What is known about the MCP request that a tool answers. */
export interface McpExtra {
  authInfo?: McpAuthInfo;
  /** Absent over stdio and in stateless requests. */
  sessionId?: string;
  requestId?: string | number;
  /** Fires when the client cancels the request or goes away. */
  signal?: AbortSignal;
  sendNotification?: (notification: { method: string; params?: Record<string, unknown> }) => Promise<void>;
  sendRequest?: (request: { method: string; params?: Record<string, unknown> }, ...rest: unknown[]) => Promise<unknown>;
}

/** A question to the person in front of the client: a flat object of strings, numbers, booleans and enums. */
export interface ElicitRequest {
  message: string;
  requestedSchema: { type: 'object'; properties: Record<string, unknown>; required?: string[] } & Record<
    string,
    unknown
  >;
}

export interface ElicitResult {
  action: 'accept' | 'decline' | 'cancel';
  /** The answer; only when `action` is `accept`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- its shape is the requested schema
  content?: any;
}

export interface ElicitOptions {
  /** Tells answers of conditional questions apart; default is the order of the questions. */
  key?: string;
  /** Milliseconds until the question is given up. */
  timeout?: number;
  signal?: AbortSignal;
}

/** What a tool can do with the MCP client that called it. */
export interface ToolMcpContext {
  /** `undefined` when the tool was not called through MCP. */
  readonly extra?: McpExtra | undefined;
  readonly elicitation: {
    /** Asks the user. @throws `TOOL_NOT_CALLED_THROUGH_MCP` outside an MCP call */
    sendRequest(request: ElicitRequest, options?: ElicitOptions): Promise<ElicitResult>;
  };
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
  elicitation: Object.freeze({
    sendRequest: () =>
      Promise.reject(
        new QuiverError(
          'TOOL_NOT_CALLED_THROUGH_MCP',
          'The tool asked for user input, but it was not called through an MCPServer, so there is no client to ask. Check `context.mcp.extra` before asking.',
        ),
      ),
  }),
  progress: () => Promise.resolve(),
  log: () => Promise.resolve(),
});
