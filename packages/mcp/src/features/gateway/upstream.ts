import {
  isQuiverError,
  QuiverError,
  toErrorMessage,
  traceChannels,
  untilAborted,
  withinTime,
  type Logger,
} from '@quiver/core';
import { createTool, type AnyRequestContext } from '@quiver/core/tools';
import type { EngineRequestOptions } from '../../client/engine/call.js';
import { isCreatedTask } from '../../client/engine/check-result.js';
import type { ListCaller } from '../../client/remote/list-cache.js';
import type { RemoteServer } from '../../client/remote/remote-server.js';
import { awaitTask } from '../../client/tools/await-task.js';
import { sendCall } from '../../client/tools/call-tool.js';
import { errorCodes, metaKeys, viaKey, TASKS_EXTENSION } from '../../protocol/constants.js';
import { isObject, type Params } from '../../protocol/json-rpc.js';
import { listMethods, requestMethods, type ListKind, type ListMethod } from '../../protocol/methods.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { CallToolResult, ProtocolTool } from '../../protocol/types.js';
import type { RequestedList } from '../../server/provider.js';
import type { ServerRequest } from '../../server/request.js';
import { urlElicitationRequired } from '../../server/methods/url-elicitation.js';
import type { ListedTool } from '../../server/tools/catalog.js';
import { toolRequestOf } from '../../server/tools/tool-context.js';
import type { CallExtension, RegisteredTool } from '../../server/call-extension.js';
import { findParamHeaders, structuredFor, type ProvidedTools } from '../../server/tools/tool-registry.js';
import { isLoop, type Via } from './via.js';
import { RelayedCall, type RelayState } from './relayed-call.js';
import type { SuspendedCalls } from './suspended-calls.js';

/** An item of another server, with that server's own names. */
export type ProxiedItem =
  | ({ readonly type: 'tool' } & Readonly<ListedTool>)
  | { readonly type: 'resource'; readonly name: string; readonly uri: string }
  | { readonly type: 'resourceTemplate'; readonly name: string; readonly uriTemplate: string }
  | { readonly type: 'prompt'; readonly name: string };

/** Options of `server.proxy()` and `server.mount()`. */
export interface ProxyOptions {
  /** Begin of the names of tools and prompts; `false` for none. Default: the name of the proxy and `_`. */
  prefix?: string | false;
  /** Returns whether to offer an item. Default: all. */
  include?: (item: ProxiedItem) => boolean;
}

export interface UpstreamOptions {
  readonly name: string;
  readonly remote: RemoteServer;
  readonly prefix: string;
  readonly include: ProxyOptions['include'];
  readonly suspended: SuspendedCalls;
  readonly logger: Logger;
  readonly via: Via;
  /** Extensions by which runs continue after their response. */
  readonly continuing: readonly CallExtension[];
  /** Returns whether a name with the prefix belongs to another server, whose prefix is longer. */
  readonly isForeign: (name: string) => boolean;
  /** Called when a list arrives after a request that was sent without it. */
  readonly onLateList: (method: ListMethod) => void;
}

type Item = Params & { readonly name: string };

/** Milliseconds that a list waits for one server; the others are not delayed longer. */
const LIST_TIMEOUT = 5_000;

export class Upstream {
  readonly name: string;
  readonly prefix: string;
  readonly remote: RemoteServer;
  readonly #options: UpstreamOptions;
  /** Items as this server offers them, by the list that they were made of. An entry lives as long as its key. */
  #offered = new WeakMap<object, readonly Item[]>();
  #tools = new WeakMap<object, ProvidedTools>();
  /** Own items of the server, by those that are offered. */
  readonly #origins = new WeakMap<object, Item>();

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.name = options.name;
    this.prefix = options.prefix;
    this.remote = options.remote;
  }

  /** Forgets which items are offered: the names of another server have changed that. */
  forget(): void {
    this.#offered = new WeakMap();
    this.#tools = new WeakMap();
  }

  originOf(item: object): Item | undefined {
    return this.#origins.get(item);
  }

  /**
   * Returns the tools of a caller.
   *
   * @param name - tool that a call names: where it is known, its list is not requested again
   */
  async tools(request: ServerRequest, name?: string): Promise<ProvidedTools> {
    const known = name === undefined ? undefined : this.remote.list('tools/list').peek(this.#callerOf(request));
    const tools = known && this.#toTools(known);
    if (name !== undefined && tools?.has(name)) return tools;
    return this.#toTools((await this.#fetch(request, 'tools/list')) as readonly ProtocolTool[]);
  }

  /** Returns the tools of a caller, or those of no caller in particular, as far as they are known without a request. */
  knownTools(request: ServerRequest): ProvidedTools {
    const list = this.remote.list('tools/list');
    return this.#toTools(list.peek(this.#callerOf(request)) ?? list.peek() ?? none);
  }

  /** Returns the items of a list as this server offers them. Without a response in time, those of the last one. */
  async items(request: ServerRequest, method: RequestedList): Promise<readonly Item[]> {
    const list = (await this.#fetch(request, method)) as unknown as readonly Item[];
    const known = this.#offered.get(list);
    if (known) return known;
    const offered = list.filter((item) => this.#includes(method, item)).map((item) => this.#offer(method, item));
    this.#offered.set(list, offered);
    return offered;
  }

  async #fetch(request: ServerRequest, method: ListMethod): Promise<readonly object[]> {
    const caller = this.#callerOf(request);
    const list = this.remote.list(method);
    let isLate = false;
    const fetching = list.get(caller).then(
      ({ items, error }) => {
        this.remote.logMissing(method, error === undefined ? undefined : toErrorMessage(error));
        if (isLate) this.#options.onLateList(method);
        return items as readonly object[];
      },
      (error: unknown) => {
        if (isLoop(error)) return none;
        this.remote.logMissing(method, toErrorMessage(error));
        return undefined;
      },
    );
    try {
      const timedOut = (limit: number): Error => new Error(`It did not respond within ${limit} ms.`);
      const items = await untilAborted(() => withinTime(fetching, LIST_TIMEOUT, timedOut), request.signal);
      return items ?? list.peek(caller) ?? none;
    } catch (error) {
      request.signal.throwIfAborted();
      isLate = true;
      this.#options.logger.warn(
        `The list ${method} of the proxied server '${this.name}' is missing: ${toErrorMessage(error)}`,
      );
      return list.peek(caller) ?? none;
    }
  }

  /** Returns the contents of the lists of a kind; `undefined` where callers may receive different ones. */
  async describeLists(request: ServerRequest, kind: ListKind): Promise<string | undefined> {
    if (this.remote.variesByCaller) return undefined;
    const methods = listMethods.filter((method) => requestMethods[method].capability === kind);
    return JSON.stringify(await Promise.all(methods.map((method) => this.#fetch(request, method))));
  }

  #toTools(list: readonly ProtocolTool[]): ProvidedTools {
    const known = this.#tools.get(list);
    if (known) return known;
    const included = list.filter(
      (tool) => this.#includes('tools/list', tool as unknown as Item) && this.#canCall(tool),
    );
    const tools = new Map(included.map((tool) => [`${this.prefix}${tool.name}`, this.#toRegistered(tool)]));
    this.#tools.set(list, tools);
    return tools;
  }

  #includes(method: ListMethod, item: Item): boolean {
    const { include, logger, isForeign } = this.#options;
    if (requestMethods[method].key.includes('name') && isForeign(`${this.prefix}${item.name}`)) {
      logger.warn(
        `The ${requestMethods[method].itemType} '${this.prefix}${item.name}' of the proxied server '${this.name}' is left out: names that begin like this belong to another proxied server, whose \`prefix\` is longer.`,
      );
      return false;
    }
    try {
      // The cast: the method decides the shape.
      return !include || include({ ...item, type: requestMethods[method].itemType } as unknown as ProxiedItem) === true;
    } catch (error) {
      logger.error(
        `The item '${item.name}' of the proxied server '${this.name}' is left out: ${toErrorMessage(error)}`,
        error,
      );
      return false;
    }
  }

  /** Tools that run only as tasks of protocol version 2025-11-25, which are not passed on, cannot be called. */
  #canCall({ name, execution }: ProtocolTool): boolean {
    if (this.#offersTasks() || execution?.taskSupport !== 'required') return true;
    this.#options.logger.warn(
      `The tool '${name}' of the proxied server '${this.name}' is left out: it runs only as a task of protocol version 2025-11-25, which a gateway does not pass on.`,
    );
    return false;
  }

  /** Whether the server decides that a call becomes a task. */
  #offersTasks(): boolean {
    const { extensions } = this.remote.connection.status().capabilities ?? {};
    return isObject(extensions) && TASKS_EXTENSION in extensions;
  }

  #offer(method: ListMethod, item: Item): Item {
    const offered = {
      ...withoutScopes(item),
      // URIs identify items without it.
      name: requestMethods[method].key.includes('name') ? `${this.prefix}${item.name}` : item.name,
    };
    this.#origins.set(offered, item);
    return offered;
  }

  #toRegistered(tool: ProtocolTool): RegisteredTool {
    const name = `${this.prefix}${tool.name}`;
    const listed = { ...withoutScopes(tool as unknown as Item), name } as unknown as ListedTool;
    return {
      name,
      // Without schemas: the server validates its arguments, and the caller its result.
      tool: createTool({
        id: name,
        description: tool.description ?? '',
        execute: (args, { mcp }) => this.#call(toolRequestOf(mcp), tool, args as Params),
      }),
      toolType: 'tool',
      listed,
      item: { type: 'tool', toolType: 'tool', ...listed },
      structured: structuredFor(tool.outputSchema),
      paramHeaders: findParamHeaders(name, tool.inputSchema, this.#options.logger),
      continuesItself: this.#offersTasks(),
      extensions: this.#options.continuing,
    };
  }

  async #call(request: ServerRequest, tool: ProtocolTool, args: Params): Promise<unknown> {
    const meta = this.metaOf(request);
    const result = await this.forward(request, async (options, continued) => {
      const runId = crypto.randomUUID();
      const sent = await sendCall(this.remote, { ...options, name: tool.name, args, meta, tool, continued }, runId);
      if (!isCreatedTask(sent)) return sent;
      options.relay.continueNow();
      return awaitTask(this.remote, sent.taskId, {
        ...options,
        onProgress: (update) => options.relay.report(update),
        runId,
        isOwner: true,
        created: sent,
      });
    });
    return toOwn(result as CallToolResult);
  }

  /**
   * Sends a request for a caller, with everything that belongs to it.
   *
   * @param send - sends the request; `continued` are members that continue it after an input round
   * @throws ProtocolError as the server sent it; errors of the client
   */
  async forward(
    request: ServerRequest,
    send: (options: ForwardOptions, continued: Params) => Promise<Params>,
  ): Promise<Params> {
    const { suspended } = this.#options;
    // The cast: the state is signed.
    const state = (request.kept ?? {}) as RelayState;
    const resumed = 'call' in state ? suspended.take(state.call) : undefined;
    const call = resumed?.call ?? new RelayedCall(request);
    const run = async (): Promise<Params> => {
      const isContinued = request.kept !== undefined && !('call' in state);
      const inputResponses = request.params?.['inputResponses'];
      const continued = isContinued ? { ...(inputResponses !== undefined && { inputResponses }), ...state } : {};
      const requestContext = this.#contextOf(request);
      return send({ relay: call, signal: call.signal, requestContext, onProgress: call.onProgress }, continued);
    };
    const running = resumed?.running ?? run();
    // It may fail between two rounds.
    running.catch(() => {});
    try {
      const result = await call.host(request, running, () => ({ call: suspended.add(call, running) }));
      if (result['resultType'] !== 'input_required') return result;
      const { inputRequests, requestState } = result;
      return await request.endRound(inputRequests, requestState === undefined ? {} : { requestState });
    } catch (error) {
      throw this.#toCallerError(error, request);
    }
  }

  metaOf(request: ServerRequest): Params {
    return { ...metaOf(request), [viaKey]: this.#options.via.of(request) };
  }

  /** Callers do not read where the server is. */
  #toCallerError(error: unknown, request: ServerRequest): unknown {
    const outcome = isQuiverError(error) && connectionErrors.get(error.code);
    if (!isQuiverError(error) || !outcome) return toCallerError(error, request);
    this.#options.logger.warn(toErrorMessage(error), error);
    return new QuiverError(error.code, `The proxied server '${this.name}' ${outcome}`, { cause: error });
  }

  #callerOf(request: ServerRequest): ListCaller {
    return { requestContext: this.#contextOf(request), via: this.#options.via.of(request), signal: request.signal };
  }

  #contextOf(request: ServerRequest): AnyRequestContext | undefined {
    return this.remote.variesByCaller ? request.requestContext : undefined;
  }
}

/** A server cannot require scopes of the callers of this one, by a member that only items of this one have. */
function withoutScopes({ mcp: _scopes, ...item }: Item): Item {
  return item;
}

const none: readonly never[] = [];

export type ForwardOptions = Pick<EngineRequestOptions, 'signal' | 'requestContext' | 'onProgress'> & {
  readonly relay: RelayedCall;
};

/** Members of `_meta` that continue a trace. Where requests are traced, the span of the gateway is in between. */
const traceKeys: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage']);

/** Returns the members of `_meta` that are not about the connection of the caller. */
function metaOf({ meta = {} }: ServerRequest): Params {
  const isTraced = traceChannels['quiver:mcp.client'].isActive;
  const isPassed = (key: string): boolean =>
    key !== 'progressToken' && !key.startsWith('io.modelcontextprotocol/') && !(isTraced && traceKeys.has(key));
  return Object.fromEntries(Object.entries(meta).filter(([key]) => isPassed(key)));
}

/** Returns a result without the identity of the server that it came from. */
export function toOwn<Result extends { _meta?: unknown }>(result: Result): Result {
  const { _meta, ...members } = result;
  if (!isObject(_meta)) return result;
  const { [metaKeys.serverInfo]: _, ...meta } = _meta;
  return (Object.keys(meta).length > 0 ? { ...members, _meta: meta } : members) as Result;
}

/** Statuses of protocol errors of the modern era. Others are about the connection to the upstream. */
const passedStatuses = new Set([400, 404]);

/** Errors of the client whose messages contain addresses. */
const connectionErrors: ReadonlyMap<string, string> = new Map([
  ['MCP_CLIENT_CONNECT_FAILED', 'is unavailable. Try again later.'],
  [
    'MCP_CONNECTION_CLOSED',
    'ended its connection before it responded. The request was not repeated, because it may have had effects.',
  ],
]);

/** Returns the error that the caller receives: that of the server unchanged, and the client's own otherwise. */
function toCallerError(error: unknown, { era }: ServerRequest): unknown {
  const cause = isQuiverError(error, 'MCP_REQUEST_FAILED') ? error.cause : error;
  if (!(cause instanceof ProtocolError)) return error;
  const { code, message, data } = cause;
  const pages = isObject(data) ? data['elicitations'] : undefined;
  if (code === errorCodes.urlElicitationRequired && Array.isArray(pages)) return urlElicitationRequired(message, pages);
  const httpStatus = era === 'modern' && passedStatuses.has(cause.httpStatus) ? cause.httpStatus : 200;
  return new ProtocolError(code, message, { data, httpStatus });
}
