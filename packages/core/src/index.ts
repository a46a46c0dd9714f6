export { untilAborted, withinTime } from './async.js';
export { isQuiverError, QuiverError, toErrorMessage, type QuiverErrorOptions } from './errors.js';
export { escapeForLog } from './escape-for-log.js';
export {
  createLogger,
  getDefaultLogger,
  setDefaultLogger,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from './logger.js';
