import { escapeForLog } from '@quiver/core';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { LoggingLevel as ProtocolLoggingLevel } from '../../protocol/constants.js';

/** The protocol's levels; `warn` means `warning`. */
export type LoggingLevel = ProtocolLoggingLevel | 'warn';

export interface LogMessage {
  level: LoggingLevel;
  /** Starts with the server's name in brackets. Control characters are escaped. */
  message: string;
  timestamp: Date;
  /** The server's name in the configuration. */
  serverName: string;
  details?: unknown;
  /** Request context of the tool call that the message is about. */
  requestContext?: AnyRequestContext;
}

export type LogHandler = (message: LogMessage) => void;

export type ServerLog = (
  level: LoggingLevel,
  message: string,
  details?: unknown,
  requestContext?: AnyRequestContext,
) => void;

/** Builds log messages for a handler. What the handler throws is dropped: a logger must not break a connection. */
export function createServerLog(serverName: string, handler: LogHandler | undefined): ServerLog {
  if (!handler) return () => {};
  return (level, message, details, requestContext) => {
    try {
      handler({
        level,
        message: `[${serverName}] ${escapeForLog(message)}`,
        timestamp: new Date(),
        serverName,
        ...(details !== undefined && { details }),
        ...(requestContext !== undefined && { requestContext }),
      });
    } catch {
      // Nowhere is left to report it.
    }
  };
}

/** The protocol's name of a level. */
export function toProtocolLevel(level: LoggingLevel): ProtocolLoggingLevel {
  return level === 'warn' ? 'warning' : level;
}
