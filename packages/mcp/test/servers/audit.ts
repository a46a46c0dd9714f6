import type { Middleware } from '@quiver/mcp/server';

/** One request, as {@link audit} records it. */
export interface AuditEntry {
  readonly method: string;
  readonly name: string | undefined;
  readonly outcome: string;
  readonly size?: number;
  readonly code?: number;
}

/** The recipe of the page about middleware, without its digests and times. */
export function audit(write: (entry: AuditEntry) => unknown): Middleware {
  return {
    async onRequest(context, next) {
      const { method, name, signal } = context;
      if (method === 'ping') return next();
      const record = (outcome: string, more: Partial<AuditEntry>): void =>
        context.waitUntil((async () => write({ method, name, outcome, ...more }))());
      const isCanceled = (): boolean => (signal.reason as Error | undefined)?.name === 'AbortError';
      try {
        const result = await next();
        const isTold = result.status === 'input_required' || result.status === 'task';
        record(!isTold && isCanceled() ? 'canceled' : result.status, { size: result.size });
        return result;
      } catch (error) {
        record(isCanceled() ? 'canceled' : 'failed', { code: (error as { code?: number }).code ?? -32603 });
        throw error;
      }
    },
  };
}
