import { QuiverError } from '@quiver/core';
import type { LoggingLevel as ProtocolLoggingLevel } from '../protocol/constants.js';

/** The protocol's levels; `warn` means `warning`. */
export type LoggingLevel = ProtocolLoggingLevel | 'warn';

export interface LogMessage {
  level: LoggingLevel;
  message: string;
  timestamp: Date;
  /** The server's name in the configuration. */
  serverName: string;
  details?: unknown;
}

export type LogHandler = (message: LogMessage) => void;

/** What every server definition may set. */
export interface ServerOptions {
  /** Milliseconds one request may take. Default: the client's `timeout`. */
  timeout?: number;
  /** Milliseconds until the server must be connected. Default 3 000 over HTTP; over stdio the request time-out. */
  connectTimeout?: number;
  /** Hears of the server's log messages and of trouble with the connection. */
  logger?: LogHandler;
  /** The same as `logger`. */
  log?: LogHandler;
  /** Passes on the server's own log messages. Default `true`. */
  enableServerLogs?: boolean;
  /** What a tool's error result does: throw an error, or be the result. Default `throw`. */
  onToolError?: 'throw' | 'return';
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
  /** Added to the few variables a program needs to run (`PATH`, `HOME`, ...); nothing else is inherited. */
  env?: Record<string, string>;
  /** Working directory. Default: that of this process. */
  cwd?: string;
  /** What happens to the child's standard error. Default `pipe`: its end is kept for error messages. */
  stderr?: 'pipe' | 'inherit' | 'ignore';
  url?: never;
}

/** A server that is reached over Streamable HTTP. */
export interface HttpServerDefinition extends ServerOptions {
  url: string | URL;
  /** Headers and other settings of every request. */
  requestInit?: RequestInit;
  /** Replaces `fetch` for every request, for example to add a fresh token. */
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  command?: never;
}

/** One entry of `servers`: `command` starts a process, `url` connects over HTTP. */
export type MastraMCPServerDefinition = StdioServerDefinition | HttpServerDefinition;

export type ServerTarget =
  | { readonly kind: 'stdio'; readonly definition: StdioServerDefinition }
  | { readonly kind: 'http'; readonly definition: HttpServerDefinition; readonly url: URL };

/** @throws `SERVER_DEFINITION_INVALID` when a definition names neither a program nor a usable URL */
export function parseServerDefinition(name: string, definition: MastraMCPServerDefinition): ServerTarget {
  if (definition.command !== undefined) return { kind: 'stdio', definition };
  const url = toUrl(definition.url);
  if (!url) {
    throw new QuiverError(
      'SERVER_DEFINITION_INVALID',
      `MCP server '${name}' needs a command to start or an http(s) url to connect to.`,
      {
        details: { server: name },
      },
    );
  }
  return { kind: 'http', definition, url };
}

function toUrl(url: string | URL | undefined): URL | undefined {
  try {
    const parsed = new URL(url ?? '');
    return parsed.protocol === 'http:' || parsed.protocol === 'https:' ? parsed : undefined;
  } catch {
    return undefined;
  }
}
