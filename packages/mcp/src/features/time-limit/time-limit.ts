import { invalidOptions } from '@quiver/core/internal';
import { MAX_TIMER_DELAY } from '../../monotonic-now.js';
import { ErrorForClients } from '../../server/failures.js';
import type { Middleware } from '../../server/middleware/middleware.js';

/**
 * Limits the time of tool calls. At the limit the signal of the tool fires, and the client receives an error result that names the
 * limit, also when the tool ignores its signal. The time includes waits for the user's input.
 *
 * @param limits - milliseconds by tool, `'*'` for all other tools; or one number for all tools
 * @throws `OPTIONS_INVALID` for an invalid limit
 * @example
 * server.use(timeLimit({ search: 5_000, '*': 60_000 }));
 */
export function timeLimit(limits: number | Readonly<Record<string, number>>): Middleware {
  const byTool = new Map(Object.entries(typeof limits === 'number' ? { '*': limits } : (limits ?? {})));
  if (byTool.size === 0) throw invalidOptions('timeLimit needs milliseconds, for all tools or by the name of a tool.');
  for (const [tool, limit] of byTool)
    if (!(Number.isFinite(limit) && limit > 0 && limit <= MAX_TIMER_DELAY))
      throw invalidOptions(`timeLimit needs 1 to ${MAX_TIMER_DELAY} milliseconds for ${tool}, not ${String(limit)}.`);
  return {
    async onCallTool(context, next) {
      const limit = byTool.get(context.name) ?? byTool.get('*');
      if (limit === undefined) return next();
      const timer = setTimeout(() => context.abort(limitExceeded(context.name, limit)), limit);
      try {
        return await next();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function limitExceeded(tool: string, limit: number): ErrorForClients {
  return new ErrorForClients(
    'TOOL_TIME_LIMIT_EXCEEDED',
    `The tool ${tool} did not finish within its limit of ${limit} ms.`,
  );
}
