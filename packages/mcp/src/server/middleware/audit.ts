import { escapeForLog, QuiverError, toErrorMessage } from '@quiver/core';
import { booleanValue, checkOptions, type OptionChecks } from '@quiver/core/internal';
import { errorCodes, type Era } from '../../protocol/constants.js';
import { describePrincipal } from '../caller.js';
import { findProtocolError } from '../failures.js';
import { requestOf } from './hook-context.js';
import type { MeasuredOutcome, Middleware, MiddlewareContext } from './middleware.js';

/** One request, as {@link audit} records it. Has no content and no token unless content is turned on. */
export interface AuditEntry {
  /** Start of the request, ISO 8601. */
  time: string;
  /** For example `tools/call`. Cut at 200 characters, with control characters escaped. */
  method: string;
  /** Name of the tool or prompt, or URI of the resource; cut and escaped as the method. */
  name?: string;
  /** Key of the caller; absent without authentication. In place of a token it contains a digest. */
  principal?: string;
  era: Era;
  /**
   * `ok`; `error` for an error result or a JSON-RPC error; `canceled` by the client; `input_required` at the end of an input round;
   * `task` for a call that continues as a task.
   */
  outcome: 'ok' | 'error' | 'canceled' | 'input_required' | 'task';
  durationMs: number;
  /** Characters of the result as JSON; absent without a result. */
  size?: number;
  /** JSON-RPC error code; absent with a result. */
  errorCode?: number;
  /** With `content`: arguments as the client sent them. */
  arguments?: unknown;
  /** With `content`: result. */
  result?: unknown;
  /** With `content`: message of a JSON-RPC error. */
  error?: string;
}

/** Options of {@link audit}. */
export interface AuditOptions {
  /** Whether entries contain arguments, results and error messages. Default `false`: they may contain personal data and secrets. */
  content?: boolean;
}

const checks: OptionChecks<AuditOptions> = { content: booleanValue };

/** Clients choose names and methods. */
const maxNameLength = 200;

function toLogged(name: string): string {
  return escapeForLog(name.slice(0, maxNameLength));
}

/**
 * Passes one entry per request to a writer, when the request ends. Requests of the method `ping` have none. An error
 * of the writer goes to the logger of the server, and the request succeeds. `server.close()` waits for the writer.
 *
 * @throws `MIDDLEWARE_INVALID` when `write` is not a function, and for an invalid option
 * @example
 * server.use(audit((entry) => console.error(JSON.stringify(entry))));
 */
export function audit(write: (entry: AuditEntry) => unknown, options: AuditOptions = {}): Middleware {
  if (typeof write !== 'function')
    throw new QuiverError('MIDDLEWARE_INVALID', 'audit needs a function that receives the entries.');
  checkOptions('audit', options, checks, { code: 'MIDDLEWARE_INVALID' });
  const { content = false } = options;

  return {
    async onRequest(context, next) {
      const { method, name, era, params } = context;
      if (method === 'ping') return next();
      const time = new Date().toISOString();
      const start = performance.now();
      const { auditing, logger } = requestOf(context).server;
      // Not the request: where the writer hangs, its data can be freed.
      const unwritten = {};
      const finish = async (end: Pick<AuditEntry, 'outcome'> & Partial<AuditEntry>): Promise<void> => {
        const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
        try {
          const principal = context.principal === undefined ? undefined : await describePrincipal(context.principal);
          await write({
            time,
            method: toLogged(method),
            ...(name !== undefined && { name: toLogged(name) }),
            era,
            durationMs,
            ...(content && params?.['arguments'] !== undefined && { arguments: params['arguments'] }),
            ...end,
            ...(principal !== undefined && { principal }),
          });
        } catch (error) {
          logger.error(`An audit entry was not written: ${toErrorMessage(error)}`, error);
        } finally {
          auditing.delete(unwritten);
        }
      };
      auditing.add(unwritten);
      try {
        const outcome = await next();
        // Not awaited: a slow writer must not delay the response.
        void finish({
          outcome: outcomeOf(context, outcome),
          size: outcome.size,
          ...(content && { result: outcome.result }),
        });
        return outcome;
      } catch (error) {
        const isCanceled = requestOf(context).isDiscarded;
        void finish({
          outcome: isCanceled ? 'canceled' : 'error',
          // What a later hook throws becomes an internal error.
          errorCode: findProtocolError(error)?.code ?? errorCodes.internal,
          ...(content && { error: toErrorMessage(error) }),
        });
        throw error;
      }
    },
  };
}

function outcomeOf(context: MiddlewareContext, { status }: MeasuredOutcome): AuditEntry['outcome'] {
  if (status === 'input_required' || status === 'task') return status;
  if (requestOf(context).isDiscarded) return 'canceled';
  return status === 'error' ? 'error' : 'ok';
}
