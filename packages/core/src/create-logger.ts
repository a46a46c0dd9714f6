import { severity, toLogger, type Logger, type LoggerOptions } from './logger.js';
import { checkOptions, functionValue, oneOf, type OptionChecks } from './options.js';

const checks: OptionChecks<LoggerOptions> = { level: oneOf(...Object.keys(severity)), write: functionValue };

/**
 * Creates a logger that writes single lines to standard error.
 *
 * It never writes to standard output: over stdio, standard output carries the protocol, and one stray line breaks the connection.
 * Control characters in messages are escaped, so that a remote server cannot forge lines or move the cursor.
 *
 * @throws `OPTIONS_INVALID`
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  // Not in `logger.ts`: the check of options logs warnings.
  checkOptions('createLogger', options, checks);
  return toLogger(options);
}
