import type { AnyRequestContext, McpExtra, ToolAnnotations, ToolMcpContext } from '@quiver/core/tools';
import type { Era } from '../../protocol/constants.js';
import type { ListMethod } from '../../protocol/methods.js';
import type { CatalogCaller } from '../tools/catalog.js';

/** A value, or a promise of it. */
export type MaybePromise<Value> = Value | PromiseLike<Value>;

/** A request on its way through the middleware of a server, after authentication. */
export interface MiddlewareContext extends Pick<CatalogCaller, 'principal' | 'scopes'> {
  /** For example `tools/call`. */
  readonly method: string;
  /** Name of the tool or prompt, or URI of the resource, as the client sent it; `undefined` for other methods. */
  readonly name: string | undefined;
  /** Arguments of the tool or prompt. A middleware may replace them before `next()`; they are validated afterwards. */
  arguments: Record<string, unknown> | undefined;
  /** Parameters of the request, as the client sent them. */
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly era: Era;
  /** Absent over stdio and in requests without a session. */
  readonly sessionId?: string;
  /** Request context that the tool receives as `context.requestContext`. */
  readonly requestContext: AnyRequestContext;
  /** Caller and request, as the `context.mcp.extra` of tools. */
  readonly extra: McpExtra;
  /** As the `context.mcp` of tools: sends requests to the client, log messages and progress. */
  readonly mcp: ToolMcpContext;
  /** HTTP headers, with names in lower case; empty over stdio. */
  readonly headers: Readonly<Record<string, string>>;
  /** Fires when the client cancels the request or disconnects, and by {@link MiddlewareContext.abort}. */
  readonly signal: AbortSignal;
  /** Aborts `signal`. `next()` of the hook for the operation then rejects with the reason; the client still receives a response. */
  abort(reason: Error): void;
  /** Whether the client has received a request during this one, so that the result may depend on its user. */
  readonly sentRequest: boolean;
  /**
   * Lets `server.close()` wait for work that the response does not wait for, such as an entry of a log. A rejection goes to the logger of the
   * server.
   */
  waitUntil(work: PromiseLike<unknown>): void;
}

/** A call of a tool that the server has. */
export interface CallToolContext extends MiddlewareContext {
  readonly method: 'tools/call';
  readonly name: string;
  arguments: Record<string, unknown>;
  /** Annotations of the tool. */
  readonly annotations: ToolAnnotations | undefined;
}

/** A request for the content of a resource, which need not exist. */
export interface ReadResourceContext extends MiddlewareContext {
  readonly method: 'resources/read';
}

/** A request for the messages of a prompt, which need not exist. */
export interface GetPromptContext extends MiddlewareContext {
  readonly method: 'prompts/get';
}

/** A request for one page of a list. */
export interface ListContext extends MiddlewareContext {
  readonly method: ListMethod;
}

/** A result of the protocol, as JSON. */
export type MiddlewareResult = Record<string, unknown>;

/** Outcome of a request that did not fail. A middleware may return `{ result }` in its place. */
export interface RequestOutcome {
  /** Result as JSON. Parsed when it is first read. */
  readonly result: MiddlewareResult;
}

/** As `next()` of `onRequest` returns it. */
export interface MeasuredOutcome extends RequestOutcome {
  /** `error` for an error result of a tool; otherwise the `resultType` of the protocol: `complete`, `input_required` or `task`. */
  readonly status: 'complete' | 'error' | 'input_required' | 'task';
  /** Characters of the result as JSON. */
  readonly size: number;
}

/**
 * Hooks around the requests of a server. `next()` runs the rest: the hooks of the same name that were added later, then the operation.
 * A hook that does not call `next()` answers the request itself, and one that throws ends it like an exception of a tool or callback.
 *
 * @example
 * server.use({
 *   async onCallTool(context, next) {
 *     const started = performance.now();
 *     try {
 *       return await next();
 *     } finally {
 *       console.error(`${context.name}: ${performance.now() - started} ms`);
 *     }
 *   },
 * });
 */
export interface Middleware {
  /** Runs around every request, of any method, before the other hooks. */
  onRequest?(context: MiddlewareContext, next: () => Promise<MeasuredOutcome>): MaybePromise<RequestOutcome>;
  /**
   * Runs around calls of tools, before the arguments are validated. `next()` returns the value of the tool, or a `ToolFailure` for
   * invalid arguments, and throws the errors of the tool. A hook returns any value that a tool may return; a value other than that of
   * `next()` is validated against the output schema.
   */
  onCallTool?(context: CallToolContext, next: () => Promise<unknown>): unknown;
  /** Runs around `resources/read`. Results are `{ contents: […] }`. */
  onReadResource?(context: ReadResourceContext, next: () => Promise<MiddlewareResult>): MaybePromise<MiddlewareResult>;
  /** Runs around `prompts/get`. Results are `{ messages: […] }`. */
  onGetPrompt?(context: GetPromptContext, next: () => Promise<MiddlewareResult>): MaybePromise<MiddlewareResult>;
  /** Runs around lists of tools, resources, resource templates and prompts, per page. Results are `{ tools: […] }` and so on. */
  onList?(context: ListContext, next: () => Promise<MiddlewareResult>): MaybePromise<MiddlewareResult>;
}

export type HookName = keyof Middleware;

/** Middleware of a server by hook, in the order of `use()`. Arrays are replaced and never changed: requests may be running. */
export type MiddlewareTable = Record<HookName, readonly Middleware[]>;
