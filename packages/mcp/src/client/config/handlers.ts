import type { LanguageModel } from '@quiver/core/llm';
import type { AnyRequestContext, ElicitRequest, ElicitResult } from '@quiver/core/tools';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  Root,
} from '../../protocol/types.js';
import type { LoggingLevel as ProtocolLoggingLevel } from '../../protocol/constants.js';
import type { Params } from '../../protocol/json-rpc.js';
import type { ListKind } from '../../protocol/methods.js';

/** A request or notification of a server. */
export interface ServerMessage {
  readonly method: string;
  readonly params?: Params;
}

/** Receives a request or notification of a server. */
export type ServerMessageHandler = (message: ServerMessage, info: { readonly serverName: string }) => void;

/** A progress notification. */
export interface ProgressUpdate {
  progressToken: string;
  progress: number;
  total?: number;
  message?: string;
}

/** Levels of the protocol; `warn` means `warning`. */
export type LoggingLevel = ProtocolLoggingLevel | 'warn';

/** Log message of a server or of its connection. */
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

/** Handles a log message of a server or of its connection. */
export type LogHandler = (message: LogMessage) => void;

/** Elicitation request of a server. */
export interface ElicitationRequest extends Omit<ElicitRequest, 'mode'> {
  /** Server that sent the request. Show it, so that one server cannot pose as another. */
  serverName: string;
  /** `url`: the server requests that the user opens a page; the result contains only the user's decision. */
  mode: 'form' | 'url';
  /** The page, with mode `url`. Show its address before you open it. */
  url?: string;
}

/** Responds to an elicitation request. `content` must match `requestedSchema`; missing fields get their default. */
export type ElicitationHandler = (
  request: ElicitationRequest,
  options: { signal: AbortSignal },
) => ElicitResult | PromiseLike<ElicitResult>;

/** Sampling request of a server. */
export type SamplingRequest = CreateMessageRequestParams & {
  /** Server that sent the request. */
  serverName: string;
};

/** Completion that a sampling request returns to the server. */
export type SamplingResult = CreateMessageResult | CreateMessageResultWithTools;

/** Answers the sampling requests of a server. */
export type SamplingHandler = (
  request: SamplingRequest,
  options: { signal: AbortSignal },
) => SamplingResult | PromiseLike<SamplingResult>;

/** A model of the AI SDK (5, 6 or 7), or its name, with limits for the sampling requests of a server. */
export interface SamplingModel {
  model: LanguageModel | string;
  /** Maximum number of tokens of one completion. Default: the number that the server requests. */
  maxTokens?: number;
  /** Approves each request before the model receives it; `false` rejects it. */
  approve?: (request: SamplingRequest) => boolean | PromiseLike<boolean>;
}

/** Sampling support of a server definition. */
export type SamplingOptions = SamplingHandler | SamplingModel;

/** Handlers of one request, which precede those of its server. */
export interface RequestHandlers {
  /** Responds to elicitation requests that belong to this request. Default: the handler of `mcp.elicitation.onRequest()`. */
  onElicitation?: ElicitationHandler | undefined;
  /** Responds to sampling requests that belong to this request. Default: `sampling` of the server definition. */
  onSampling?: SamplingHandler | undefined;
}

/** Handlers of the application for requests and notifications of a server: one each. They outlive connections. */
export interface ServerHandlers {
  elicitation?: ElicitationHandler;
  sampling?: SamplingOptions;
  roots?: Root[] | (() => Root[] | PromiseLike<Root[]>);
  onProgress?: (update: ProgressUpdate) => void;
  onResourceUpdated?: (params: { uri: string }) => void;
  onConnected?: () => void;
  readonly onListChanged: Partial<Record<ListKind, () => void>>;
}
