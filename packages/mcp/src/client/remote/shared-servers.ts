import { getDefaultLogger, isQuiverError, QuiverError, toErrorMessage, withinTime } from '@quiver/core';
import { requestMethods, type ListMethod } from '../../protocol/methods.js';
import { anyValue, checkOptions, type OptionChecks } from '@quiver/core/internal';
import type { AnyRequestContext } from '@quiver/core/tools';
import type { ListedItems } from './list-cache.js';
import type { RemoteServer } from './remote-server.js';

/** Error of a server, for programs. */
export interface ServerErrorDetails {
  message: string;
  code?: string;
  httpStatus?: number;
}

/** Results by server, and the errors of the other servers. */
export interface Answers<Answer> {
  /** By server. A server may be here and in `errors`: then this is its last result. */
  data: Record<string, Answer>;
  /** Error message per unavailable server. */
  errors: Record<string, string>;
  errorDetails: Record<string, ServerErrorDetails>;
  /** Milliseconds per server. */
  durations: Record<string, number>;
}

/** Options of the methods that list tools, resources and prompts. */
export interface ListOptions {
  /** Milliseconds until a server without a response counts as unavailable. Default: the timeouts of the servers. */
  perServerTimeoutMs?: number;
  /** Request context of the caller, for `headers` and `fetch` of the server definitions. */
  requestContext?: AnyRequestContext | undefined;
}

const listChecks: OptionChecks<ListOptions> = { perServerTimeoutMs: anyValue, requestContext: anyValue };

/** Servers of the clients of this process: one entry per configuration in use, which ends with its last user. */
const live = new Set<SharedServers>();

/** The servers of one configuration and their users, which are clients. The last user that releases them ends their connections. */
export class SharedServers {
  readonly byName: ReadonlyMap<string, RemoteServer>;
  readonly #configuration: { readonly id?: string };
  readonly #users = new Set<object>();
  #disconnecting: Promise<unknown> | undefined;

  private constructor(configuration: { readonly id?: string }, byName: ReadonlyMap<string, RemoteServer>) {
    this.#configuration = configuration;
    this.byName = byName;
  }

  /**
   * Returns the servers of a configuration: those of a live client with the same `id` and configuration, or new ones. Servers with the
   * same `id` and another configuration are disconnected.
   *
   * @throws `MCP_CLIENT_DUPLICATE` when a client without `id` repeats the configuration of a live one, such as one client per request
   */
  static for(configuration: { readonly id?: string }, create: () => ReadonlyMap<string, RemoteServer>): SharedServers {
    const { id } = configuration;
    const sameId = [...live].filter((shared) => shared.#configuration.id === id);
    const same = sameId.find((shared) => isSameConfiguration(shared.#configuration, configuration));
    if (same && id === undefined) {
      throw new QuiverError(
        'MCP_CLIENT_DUPLICATE',
        'MCPClient was initialized multiple times with the same configuration options. Each instance holds its own connections: use one instance, call disconnect() before you create the next, or give each an `id`.',
      );
    }
    if (same) return same;
    const created = new SharedServers(configuration, create());
    for (const replaced of id === undefined ? [] : sameId)
      replaced
        .disconnect()
        .catch((error: unknown) =>
          getDefaultLogger().warn(`The replaced MCPClient '${id}' did not disconnect.`, error),
        );
    live.add(created);
    return created;
  }

  /** Adds a user. The connections stay open until it releases them. */
  acquire(user: object): void {
    this.#users.add(user);
  }

  /** Removes a user, and ends the connections if there is no other one. Concurrent calls share the work. */
  async release(user: object): Promise<void> {
    this.#users.delete(user);
    if (this.#users.size === 0) await this.disconnect();
  }

  /** Ends all connections, and the processes behind them. The next request connects again. */
  async disconnect(): Promise<void> {
    live.delete(this);
    const servers = [...this.byName.values()];
    this.#disconnecting ??= Promise.all(servers.map((server) => server.disconnect())).finally(() => {
      this.#disconnecting = undefined;
    });
    await this.#disconnecting;
  }

  /** @throws `MCP_SERVER_UNKNOWN` */
  require(serverName: string): RemoteServer {
    const server = this.byName.get(serverName);
    if (server) return server;
    const known = [...this.byName.keys()].join(', ') || 'none';
    throw new QuiverError(
      'MCP_SERVER_UNKNOWN',
      `Server configuration not found for name: ${serverName}. There are: ${known}.`,
    );
  }

  /**
   * Runs an operation on one server.
   *
   * @throws `MCP_REQUEST_TIMEOUT`; otherwise `MCP_CLIENT_<operation>_FAILED`. `details.reason` is the code of the cause. `signal.reason`, unchanged
   */
  async run<Result>(
    operation: string,
    serverName: string,
    run: (server: RemoteServer) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    try {
      return await run(this.require(serverName));
    } catch (error) {
      signal?.throwIfAborted();
      // The cause contains the output of the server's process.
      const { stderr: _, ...details } = (isQuiverError(error) && error.details) || {};
      // A timeout has one code in every function.
      const code = isQuiverError(error, 'MCP_REQUEST_TIMEOUT') ? error.code : `MCP_CLIENT_${operation}_FAILED`;
      throw new QuiverError(code, toErrorMessage(error), {
        cause: error,
        details: {
          ...details,
          ...(isQuiverError(error) && { reason: error.code }),
          server: serverName,
          domain: 'MCP',
          category: 'THIRD_PARTY',
        },
      });
    }
  }

  /** Requests a list from all servers. Each item of the result is a copy of the cached list. */
  async list<Method extends ListMethod>(
    method: Method,
    options: ListOptions = {},
  ): Promise<Answers<ListedItems[Method][]>> {
    checkOptions(`The list of ${requestMethods[method].title.toLowerCase()}`, options, listChecks);
    return askServers(
      this.byName.values(),
      async (server) => {
        const { items, error } = await server.list(method).get({ requestContext: options.requestContext });
        return { answer: [...items], error };
      },
      options.perServerTimeoutMs,
    );
  }

  /** Returns the same as {@link list}, with a log line per error. */
  async listLogged<Method extends ListMethod>(
    method: Method,
    options?: ListOptions,
  ): Promise<Record<string, ListedItems[Method][]>> {
    const answers = await this.list(method, options);
    this.logMissing(requestMethods[method].title, answers);
    return answers.data;
  }

  /** Logs why something is missing in a result. */
  logMissing(what: string, { errors, durations }: Answers<unknown>): void {
    for (const name of Object.keys(durations)) this.require(name).logMissing(what, errors[name]);
  }
}

/** Sends a request to servers at once. An error of one server does not affect the others. */
export async function askServers<Answer>(
  servers: Iterable<RemoteServer>,
  ask: (server: RemoteServer) => Promise<{ readonly answer: Answer; readonly error?: unknown }>,
  perServerTimeoutMs?: number,
): Promise<Answers<Answer>> {
  const answers: Answers<Answer> = { data: {}, errors: {}, errorDetails: {}, durations: {} };
  const started = performance.now();
  const toError = (limit: number): Error => new Error(`no answer within ${limit} ms`);
  const outcomes = await Promise.all(
    Array.from(servers, async (server) => {
      const { name } = server;
      try {
        return { name, ...(await withinTime(ask(server), perServerTimeoutMs, toError)) };
      } catch (error) {
        return { name, error };
      } finally {
        answers.durations[name] = Math.round(performance.now() - started);
      }
    }),
  );
  // In the order of the configuration, not of the responses.
  for (const outcome of outcomes) {
    const { name, error } = outcome;
    if ('answer' in outcome) answers.data[name] = outcome.answer;
    if (error === undefined) continue;
    answers.errors[name] = toErrorMessage(error);
    answers.errorDetails[name] = toDetails(error);
  }
  return answers;
}

function toDetails(error: unknown): ServerErrorDetails {
  const message = toErrorMessage(error);
  if (!isQuiverError(error)) return { message };
  const status = error.details?.['httpStatus'];
  return { message, code: error.code, ...(typeof status === 'number' && { httpStatus: status }) };
}

/** Compares plain objects and arrays by their members, URLs by their text, and functions and instances by identity. */
function isSameConfiguration(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (!Array.isArray(a) && Object.getPrototypeOf(a) !== Object.prototype) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && isSameConfiguration(a[key as keyof typeof a], b[key as keyof typeof b]));
}
