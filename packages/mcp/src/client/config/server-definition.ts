import type { AnyRequestContext, ResultLimit } from '@quiver/core/tools';
import type { ContextualFetch } from '../../http/send.js';
import type { OAuthClientProvider } from '../../protocol/oauth-types.js';
import type { ClientCapabilities } from '../../protocol/types.js';
import type { ClientInfo } from './client-info.js';
import type { LogHandler, LoggingLevel, SamplingOptions, ServerHandlers, ServerMessageHandler } from './handlers.js';
import type { InProcessServer, MessageTransport } from './in-process-server.js';
import type { RemoteToolError, ToolApproval, ToolCallProcessor, ToolSelection } from './tool-options.js';

/** Options of every server definition. */
export interface ServerOptions extends ToolSelection {
  /** Milliseconds one request may take. Default: the client's `timeout`. */
  timeout?: number;
  /** Milliseconds to open the connection, and to end its session. Default 3 000 over HTTP, 30 000 in this process, 60 000 over stdio. */
  connectTimeout?: number;
  /** Receives the server's log messages, and messages about its connection and tool calls. */
  logger?: LogHandler;
  /** The same as `logger`. */
  log?: LogHandler;
  /** Whether the server's own log messages reach `logger`. Default `true`. */
  enableServerLogs?: boolean;
  /** Lowest level of the server's log messages. Default: the server's choice, `info` in the modern era. */
  serverLogLevel?: LoggingLevel;
  /** Whether every call requests progress. Default `true`. */
  enableProgressTracking?: boolean;
  /** Whether progress restarts the timeout of a request. Default `false`. */
  resetTimeoutOnProgress?: boolean;
  /** Capabilities to declare in addition to those of the handlers, for example `{ elicitation: { form: {}, url: {} } }`. */
  capabilities?: ClientCapabilities;
  /** Folders the server may work in, as `file://` URIs. A function runs for each request of the server. */
  roots?: NonNullable<ServerHandlers['roots']>;
  /** Responds to sampling requests of the server. Default: they are rejected. */
  sampling?: SamplingOptions;
  /** Name and version that the server receives. Default: the client's `clientInfo`. */
  clientInfo?: ClientInfo;
  /** Receives every request and notification of the server: requests when they arrive, notifications after their handler. */
  onMessage?: ServerMessageHandler;
  /** Maximum number of `input_required` results of one call. Default 10. */
  maxInputRounds?: number;
  /** Whether a modern server may run tool calls as tasks. Default `true`. `timeout`: milliseconds until one must have ended, 0 for no limit. Default a day. */
  tasks?: boolean | { timeout: number };
  /** Effect of a tool's error result: `throw` throws `MCP_TOOL_ERROR`, `return` returns it, a function returns something else. Default `throw`. */
  onToolError?: 'throw' | 'return' | ((error: RemoteToolError) => unknown);
  /** Runs around every call of a tool. */
  processToolCall?: ToolCallProcessor;
  /** Whether the user must approve a model's call before it is sent. Default `false`. */
  requireToolApproval?: boolean | ToolApproval;
  /** `_meta` of every call, for example a trace id. */
  requestMeta?: (call: { toolName: string; requestContext: AnyRequestContext }) => Record<string, unknown>;
  /** Failures in a row of one tool that a model may correct within a run. Later calls throw `MCP_TOOL_RETRIES_EXCEEDED`. Default: no limit. */
  maxRetries?: number;
  /** Whether lists are cached until the server reports a change, for all lists or for each. Default `true`. */
  cache?: boolean | { tools?: boolean; resources?: boolean; prompts?: boolean };
  /** Whether tool descriptions end with the output schema, for models that do not receive it otherwise. Default `false`. */
  includeReturnSchema?: boolean;
  /** Limit of the text of results that models receive; `false` for none. The output stays complete. Default: the client's `resultLimit`. */
  resultLimit?: ResultLimit | false;
  /** Whether a model receives results and error messages between tags that name the server and the tool, as data. Default `false`. */
  untrusted?: boolean;
  /** Whether `getInstructions()` contains the instructions of this server. Default `false`. */
  includeInstructions?: boolean;
  /** Protocol era. Default: over HTTP `auto`, which tries the modern era and falls back to the handshake; otherwise `legacy`. */
  protocol?: 'auto' | 'legacy' | 'modern';
}

/** A server that runs as a child process. */
export interface StdioServerDefinition extends ServerOptions {
  /** The program. It is started directly, never through a shell. */
  command: string;
  /** Arguments of the command. */
  args?: string[];
  /** Environment variables, in addition to the few that a program needs to run (`PATH`, `HOME`, ...). */
  env?: Record<string, string>;
  /** `false`: the child process receives only `env`. Default `true`. */
  inheritDefaultEnv?: boolean;
  /** Working directory. Default: that of this process. */
  cwd?: string;
  /** Destination of the child's standard error. Default `pipe`: error messages quote the errors in it. */
  stderr?: 'pipe' | 'inherit' | 'ignore';
  url?: never;
  server?: never;
}

/** Headers of a server definition. */
export type DefinitionHeaders =
  | Readonly<Record<string, string>>
  | ((call: {
      requestContext: AnyRequestContext | undefined;
    }) => Record<string, string> | PromiseLike<Record<string, string>>);

/** Settings for the resumption of a broken event stream. */
export interface ReconnectionOptions {
  /** Milliseconds before the first attempt. A server can set another pause with `retry`. */
  initialReconnectionDelay: number;
  maxReconnectionDelay: number;
  reconnectionDelayGrowFactor: number;
  /** Failed attempts in a row. */
  maxRetries: number;
}

/** TLS settings of the connections to one server, as `node:https` takes them. Node.js only. */
export interface TlsOptions {
  /** Certificates of the authorities to trust, in PEM format. Default: those of Node.js. */
  ca?: string | Uint8Array | (string | Uint8Array)[];
  /** Client certificate, in PEM format. */
  cert?: string | Uint8Array;
  /** Key of the client certificate, in PEM format. */
  key?: string | Uint8Array;
  passphrase?: string;
  /** Host name that the certificate must contain. Default: the host of the URL. */
  servername?: string;
  /** `false` accepts every certificate: for tests only. Default `true`. */
  rejectUnauthorized?: boolean;
}

/** A server over Streamable HTTP, or over the legacy HTTP+SSE. */
export interface HttpServerDefinition extends ServerOptions {
  /** URL of the server, such as `https://mcp.example.com/mcp`. */
  url: string | URL;
  /** Default `auto`: Streamable HTTP, or HTTP+SSE after a response 400, 404 or 405. A path that ends in `/sse` means HTTP+SSE. */
  transport?: 'auto' | 'http' | 'sse';
  /** Headers and other settings of every request. */
  requestInit?: RequestInit;
  /** Headers of every request; a function receives the request context of the call. */
  headers?: DefinitionHeaders;
  /** Settings of the event stream of HTTP+SSE. Its `fetch` opens the stream. */
  eventSourceInit?: { fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>; withCredentials?: boolean };
  /** Replaces `fetch` for every request, for example to add a fresh token. */
  fetch?: ContextualFetch;
  /** Provides the tokens after a 401 response. */
  authProvider?: OAuthClientProvider;
  /** `'oauth'`: signs in a user at this computer, with `mcp.authenticate(name)`, and keeps the tokens in a file of the user. */
  auth?: 'oauth';
  /** TLS settings. Not together with `fetch`. */
  tls?: TlsOptions;
  /** Settings for the resumption of broken event streams. */
  reconnectionOptions?: ReconnectionOptions;
  /** Session of an earlier connection to resume. */
  sessionId?: string;
  command?: never;
  server?: never;
}

/** A server in this process. */
export interface InProcessServerDefinition extends ServerOptions {
  /** An `MCPServer`, or your own transport. */
  server: InProcessServer | MessageTransport;
  command?: never;
  url?: never;
}

/** One entry of `servers`: `command` starts a process, `url` connects over HTTP, `server` is a server of this process. */
export type MastraMCPServerDefinition = StdioServerDefinition | HttpServerDefinition | InProcessServerDefinition;

/** Server definition, or its short form: a URL, the path of a script (`.js`, `.ts`, `.py`), a server of this process, a transport. */
export type ServerDefinition = MastraMCPServerDefinition | InProcessServer | MessageTransport | string | URL;

/** Parsed server definition. */
export type ServerTarget =
  | { readonly kind: 'stdio'; readonly definition: StdioServerDefinition }
  | { readonly kind: 'http'; readonly definition: HttpServerDefinition; readonly url: URL }
  | { readonly kind: 'in-process'; readonly definition: InProcessServerDefinition };
