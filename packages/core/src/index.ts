export { isQuiverError, QuiverError, toErrorMessage, type QuiverErrorOptions } from './errors.js';
export {
  createLogger,
  getDefaultLogger,
  setDefaultLogger,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from './logger.js';
