export { Agent } from './agent/agent.js';
export { untilAborted, withinTime } from './async.js';
export { createLogger } from './create-logger.js';
export { isQuiverError, QuiverError, toErrorMessage, type QuiverErrorOptions } from './errors.js';
export {
  escapeForLog,
  getDefaultLogger,
  setDefaultLogger,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from './logger.js';
export { RequestContext } from './request-context/request-context.js';
export { createTool } from './tools/create-tool.js';
export { observe, traceChannels, type TraceChannel, type TracePhase } from './trace.js';
export type {
  EmbeddingTraceEvent,
  IngestTraceEvent,
  McpSessionTraceEvent,
  McpTraceEvent,
  RetrievalTraceEvent,
  ToolTraceEvent,
  TraceEvent,
  TraceEvents,
} from './trace-events.js';
