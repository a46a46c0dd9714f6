/** Receives events that are not errors of a call: a failed hook, a tool omitted from a list, a lost connection. */
export interface Logger {
  debug(message: string, details?: unknown): void;
  info(message: string, details?: unknown): void;
  warn(message: string, details?: unknown): void;
  error(message: string, details?: unknown): void;
}

/** Severities in ascending order; `silent` writes nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export const severity: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** Options of `createLogger()`. */
export interface LoggerOptions {
  /** The least severe level that is written. Default `warn`. */
  level?: LogLevel;
  /** Sink for one formatted line and its details. Default: standard error, never standard output. */
  write?: (line: string, details: unknown) => void;
}

/** Creates a logger from checked options; see `createLogger()`. */
export function toLogger({ level = 'warn', write = writeToStandardError }: LoggerOptions): Logger {
  const at =
    (messageLevel: Exclude<LogLevel, 'silent'>) =>
    (message: string, details?: unknown): void => {
      if (severity[messageLevel] >= severity[level])
        write(`[quiver] ${messageLevel}: ${escapeForLog(message)}`, details);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

let defaultLogger = toLogger({});

/** Returns the logger for code that received none. */
export function getDefaultLogger(): Logger {
  return defaultLogger;
}

/**
 * Replaces the default logger of the process, for example by your application's own.
 *
 * @example
 * setDefaultLogger(createLogger({ level: 'debug' }));
 */
export function setDefaultLogger(logger: Logger): void {
  defaultLogger = logger;
}

function writeToStandardError(line: string, details: unknown): void {
  // `console.error` is standard error in Node and the console elsewhere; no other console method is safe for stdio servers.
  // oxlint-disable-next-line no-console
  if (details === undefined) console.error(line);
  // oxlint-disable-next-line no-console
  else console.error(line, details);
}

/**
 * Escapes untrusted text for a log line: controls, bidirectional marks, zero-width characters, tags, and line and paragraph separators,
 * which could forge a line, move the cursor or hide text, become escapes such as `\u202e`.
 */
export function escapeForLog(text: string): string {
  // Inside the function: the import would spend 0.7 ms on the classes of the pattern.
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}
