import { QuiverError, untilAborted } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { canceledResult, Result, type ResultType } from '../../content.js';
import { isObject } from '../../protocol/json-rpc.js';
import { findMethod } from '../../protocol/methods.js';
import { runCallback, toProtocolError } from '../failures.js';
import type { ServerState } from '../definition/server-state.js';
import type { ServerRequest } from '../request.js';
import type {
  CallToolContext,
  GetPromptContext,
  HookName,
  ListContext,
  MeasuredOutcome,
  Middleware,
  MiddlewareResult,
  MiddlewareTable,
  ReadResourceContext,
} from './middleware.js';

export function createMiddlewareTable(): MiddlewareTable {
  return { onRequest: [], onCallTool: [], onReadResource: [], onGetPrompt: [], onList: [] };
}

// The cast: the table has a member for each hook.
const hookNames = Object.keys(createMiddlewareTable()) as readonly HookName[];

/**
 * Adds a middleware after those of the table.
 *
 * @throws `OPTIONS_INVALID` when it is not an object with hooks
 */
export function addMiddleware(table: MiddlewareTable, middleware: Middleware): void {
  const reason = problemOf(middleware);
  if (reason !== undefined)
    throw invalidOptions(`The middleware was not added: ${reason}. It needs hooks: ${hookNames.join(', ')}.`);
  for (const hook of hookNames) if (middleware[hook]) table[hook] = [...table[hook], middleware];
}

function problemOf(middleware: unknown): string | undefined {
  if (!isObject(middleware)) return 'it is not an object';
  const wrong = hookNames.find((hook) => middleware[hook] !== undefined && typeof middleware[hook] !== 'function');
  if (wrong) return `${wrong} is not a function`;
  // A misspelled hook would never run.
  const unknown = Object.keys(middleware).find((key) => /^on[A-Z]/.test(key) && !hookNames.includes(key as HookName));
  if (unknown !== undefined) return `it has an unknown hook '${unknown}'`;
  return hookNames.some((hook) => middleware[hook] !== undefined) ? undefined : 'it has no hook';
}

/** Runs the `onRequest` hooks around a request, and `answer` as the last. */
export function runRequestHooks(
  server: ServerState,
  request: ServerRequest,
  answer: () => Promise<Result>,
): Promise<Result> {
  const chain = server.middleware.onRequest;
  let original: Result | undefined;
  const run = async (index: number): Promise<Outcome> => {
    const middleware = chain[index];
    if (!middleware) return new Outcome((original = await withoutDetails(server, answer)));
    const given: unknown = await middleware.onRequest?.(request.hookContext, () => handled(run(index + 1)));
    if (given instanceof Outcome) return given;
    if (isObject(given) && isObject(given['result'])) return new Outcome(encode(request, given['result'], original));
    throw refuseHookResult('onRequest', '{ result }, with the result as an object');
  };
  return runCallback(server, `The request ${request.method}`, async () => (await run(0)).toResult(request), 'warn');
}

/** Unexpected errors of the server have no details for clients, also behind hooks. */
async function withoutDetails({ logger }: ServerState, answer: () => Promise<Result>): Promise<Result> {
  try {
    return await answer();
  } catch (error) {
    throw toProtocolError(logger, error);
  }
}

/** The result of a request, parsed when a middleware reads it. */
class Outcome implements MeasuredOutcome {
  readonly #answer: Result;
  #result: MiddlewareResult | undefined;

  constructor(answer: Result) {
    this.#answer = answer;
  }

  get result(): MiddlewareResult {
    return (this.#result ??= this.#answer.parse());
  }

  get status(): MeasuredOutcome['status'] {
    return this.#answer.isError ? 'error' : this.#answer.type;
  }

  get size(): number {
    return this.#answer.json.length;
  }

  /** A result that was read may have been changed in place. */
  toResult(request: ServerRequest): Result {
    return this.#result ? encode(request, this.#result, this.#answer) : this.#answer;
  }
}

/** Runs the `onCallTool` hooks around a call, and `execute` as the last. */
export function runToolHooks(
  chain: readonly Middleware[],
  request: ServerRequest,
  execute: () => Promise<unknown>,
): Promise<unknown> {
  // The cast: the call has found its tool.
  const context = request.hookContext as CallToolContext;
  return runHooks(chain, 'onCallTool', request, execute, (hooks, next) => hooks.onCallTool?.(context, next));
}

/**
 * Runs the hooks of a method that returns a result of the protocol, and `answer` as the last.
 *
 * @throws `MIDDLEWARE_RESULT_INVALID` when a hook returns something else
 */
export function runResultHooks(
  server: ServerState,
  hook: 'onReadResource' | 'onGetPrompt' | 'onList',
  request: ServerRequest,
  answer: () => Promise<Result>,
): Promise<Result> {
  return runCallback(server, `The request ${request.method}`, async () => {
    let original: Result | undefined;
    const operation = async (): Promise<MiddlewareResult> => (original = await withoutDetails(server, answer)).parse();
    try {
      const result = await runHooks(server.middleware[hook], hook, request, operation, (hooks, next) =>
        // The cast: the era and the method were matched by the table of methods.
        hooks[hook]?.(
          request.hookContext as ReadResourceContext & GetPromptContext & ListContext,
          next as () => Promise<MiddlewareResult>,
        ),
      );
      const member = findMethod(request.method)?.resultMember ?? '';
      if (isObject(result) && Array.isArray(result[member])) return encode(request, result, original);
      throw refuseHookResult(hook, `{ ${member}: […] }`);
    } catch (error) {
      // Canceled, or abandoned for an input_required result: this result is not sent.
      if (request.isDiscarded) return canceledResult;
      throw error;
    }
  });
}

async function runHooks(
  chain: readonly Middleware[],
  hook: HookName,
  { signal }: ServerRequest,
  operation: () => Promise<unknown>,
  call: (middleware: Middleware, next: () => Promise<unknown>) => unknown,
): Promise<unknown> {
  const run = async (index: number): Promise<unknown> => {
    const middleware = chain[index];
    if (!middleware) return operation();
    let inner: unknown;
    // Where a round ends with an input_required result the operation never settles, and hooks have to clean up.
    const runRest = async (): Promise<unknown> => (inner = await untilAborted(() => run(index + 1), signal));
    const next = (): Promise<unknown> => handled(runRest());
    const result = await call(middleware, next);
    // Nothing is lost silently: most likely the hook lacks a `return`.
    if (result === undefined && inner !== undefined)
      throw refuseHookResult(hook, 'the result of next(), or another one');
    return result;
  };
  return run(0);
}

/** A hook that does not await `next()` must not end the process when it rejects. */
function handled<Value>(running: Promise<Value>): Promise<Value> {
  running.catch(() => {});
  return running;
}

function refuseHookResult(hook: HookName, expected: string): QuiverError {
  return new QuiverError('MIDDLEWARE_RESULT_INVALID', `The hook ${hook} of a middleware must return ${expected}.`);
}

/**
 * Returns a result in its encoded form. The server adds the members of its era, also where a middleware returns them.
 *
 * @param original - answer of the server. A result that differs from it may depend on the caller, so shared caches must not keep it
 */
function encode({ method }: ServerRequest, result: MiddlewareResult, original: Result | undefined): Result {
  const { _meta, resultType = 'complete', ...rest } = result;
  if (findMethod(method)?.isCacheable) {
    delete rest['ttlMs'];
    delete rest['cacheScope'];
  }
  const json = JSON.stringify(rest);
  return new Result(json, {
    meta: isObject(_meta) ? _meta : undefined,
    isPrivate: original === undefined || original.isPrivate || original.json !== json,
    isError: rest['isError'] === true,
    // The cast: the server itself ends input rounds and starts tasks.
    type: resultType as ResultType,
  });
}
