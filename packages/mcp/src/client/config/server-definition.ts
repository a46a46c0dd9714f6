import type { AnyRequestContext } from '@quiver/core/tools';
import type { ClientCapabilities, OAuthClientProvider, Root } from '../../protocol/client-types.js';
import type { LogHandler, LoggingLevel } from '../server/log-message.js';
import type { RemoteToolError } from '../tools/remote-tool-error.js';
import type { ToolCallProcessor } from '../tools/tool-call-processor.js';
import type { SamplingOptions } from '../features/sampling.js';
import type { ToolSelection } from '../tools/tool-selection.js';
import type { ContextualFetch } from '../../http/send.js';
import type { DefinitionHeaders, ReconnectionOptions } from '../transports/http-channel.js';
import type { ClientInfo } from './client-info.js';
import type { ServerMessage } from '../engine/engine.js';
import type { InProcessServer } from '../transports/in-process.js';
import type { MessageTransport } from '../transports/transport-channel.js';

/** Decides whether a person must agree to a call before it is sent. */
export type ToolApproval = (call: {
  toolName: string;
  args: Record<string, unknown>;
  requestContext: AnyRequestContext;
  /** The server's own hints about the tool. They are hints: a hostile server lies. */
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean };
}) => boolean | PromiseLike<boolean>;

/** What every server definition may set. */
export interface ServerOptions extends ToolSelection {
  /** Milliseconds one request may take. Default: the client's `timeout`. */
  timeout?: number;
  /**
   * Milliseconds until the connection must be open, and until its session must have ended. Default 3 000 over HTTP, 30 000 for a
   * server of this process, and 60 000 over stdio, where the start of the process may include a download.
   */
  connectTimeout?: number;
  /** Hears of the server's log messages and of trouble with the connection. */
  logger?: LogHandler;
  /** The same as `logger`. */
  log?: LogHandler;
  /** Passes on the server's own log messages. Default `true`. */
  enableServerLogs?: boolean;
  /** The least severe log message the server should send. Default: the server's choice, `info` in the stateless revision. */
  serverLogLevel?: LoggingLevel;
  /** Asks for progress with every call. Default `true`. */
  enableProgressTracking?: boolean;
  /** Starts a request's time-out anew whenever the server reports progress. Default `false`. */
  resetTimeoutOnProgress?: boolean;
  /** What is declared to the server beside the handlers that are set, for example `{ elicitation: { form: {}, url: {} } }`. */
  capabilities?: ClientCapabilities;
  /** Folders the server may work in, as `file://` URIs; a function is asked each time. */
  roots?: Root[] | (() => Root[] | PromiseLike<Root[]>);
  /** Lets the server ask a language model. Off unless set. */
  sampling?: SamplingOptions;
  /** Name and version that the server receives. Default: the client's `clientInfo`. */
  clientInfo?: ClientInfo;
  /** Receives every request and notification of the server: requests when they arrive, notifications after their handler. */
  onMessage?: ServerMessageHandler;
  /** How often one call may be answered with questions before it fails. Default 10. */
  maxInputRounds?: number;
  /**
   * What a tool's error result does: throw `MCP_TOOL_ERROR`, be the result, or whatever the function returns, for example a hint
   * for the model. Default `throw`.
   */
  onToolError?: 'throw' | 'return' | ((error: RemoteToolError) => unknown);
  /** Runs around every call of a tool. */
  processToolCall?: ToolCallProcessor;
  /** A person must agree before a model's call is sent. Default `false`. */
  requireToolApproval?: boolean | ToolApproval;
  /** `_meta` of every call, for example a trace id. */
  requestMeta?: (call: { toolName: string; requestContext: AnyRequestContext }) => Record<string, unknown>;
  /**
   * How often a call is sent again after the connection was lost, for tools that the server declares idempotent or read-only.
   * Default 0: nothing is ever sent twice.
   */
  retryIdempotent?: number;
  /**
   * How many failures in a row of one tool the model may correct within a run. The next failure throws
   * `MCP_TOOL_RETRIES_EXCEEDED`, and so does every later call of that run. Default: no limit.
   */
  maxRetries?: number;
  /** Whether lists are cached until the server reports a change, for all lists or for each. Default `true`. */
  cache?: boolean | { tools?: boolean; resources?: boolean; prompts?: boolean };
  /** Whether tool descriptions end with the output schema, for models that do not receive it otherwise. Default `false`. */
  includeReturnSchema?: boolean;
  /** Whether `getInstructions()` contains the instructions of this server. Default `false`. */
  includeInstructions?: boolean;
  /**
   * Which generation of the protocol to speak. Default: over HTTP `auto`, which asks the server and falls back to the handshake;
   * over stdio `legacy`, which every server in the field understands.
   */
  protocol?: 'auto' | 'legacy' | 'modern';
}

/** A server that runs as a child process. */
export interface StdioServerDefinition extends ServerOptions {
  /** The program. It is started directly, never through a shell. */
  command: string;
  args?: string[];
  /** Added to the few variables a program needs to run (`PATH`, `HOME`, ...). */
  env?: Record<string, string>;
  /** `false`: the child gets `env` and nothing else. Default `true`. */
  inheritDefaultEnv?: boolean;
  /** Working directory. Default: that of this process. */
  cwd?: string;
  /** What happens to the child's standard error. Default `pipe`: its end is kept for error messages. */
  stderr?: 'pipe' | 'inherit' | 'ignore';
  url?: never;
  server?: never;
}

/** Receives a request or notification of a server. */
export type ServerMessageHandler = (message: ServerMessage, info: { readonly serverName: string }) => void;

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

/** A server that is reached over Streamable HTTP, or over the older HTTP+SSE. */
export interface HttpServerDefinition extends ServerOptions {
  url: string | URL;
  /**
   * Default `auto`: Streamable HTTP first, HTTP+SSE when the server answers 400, 404 or 405. A path that ends in `/sse` means
   * HTTP+SSE.
   */
  transport?: 'auto' | 'http' | 'sse';
  /** Headers and other settings of every request. */
  requestInit?: RequestInit;
  /** Headers of every request; a function receives the request context of the call. */
  headers?: DefinitionHeaders;
  /** Settings of the event stream of HTTP+SSE. Its `fetch` opens the stream. */
  eventSourceInit?: { fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>; withCredentials?: boolean };
  /** Replaces `fetch` for every request, for example to add a fresh token. */
  fetch?: ContextualFetch;
  /** Answers 401 with tokens. */
  authProvider?: OAuthClientProvider;
  /** `'oauth'`: signs in a user at this computer, with `mcp.authenticate(name)`. Short for `authProvider: createLoopbackProvider()`. */
  auth?: 'oauth';
  /** TLS settings. Not together with `fetch`. */
  tls?: TlsOptions;
  /** How a lost event stream is taken up again. */
  reconnectionOptions?: ReconnectionOptions;
  /** Goes on with a session of an earlier connection instead of opening one. */
  sessionId?: string;
  command?: never;
  server?: never;
}

/** A server in this process. */
export interface InProcessServerDefinition extends ServerOptions {
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
