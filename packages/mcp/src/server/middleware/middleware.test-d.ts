import { describe, expectTypeOf, it } from 'vitest';
import { MCPServer } from '../mcp-server.js';
import type { MeasuredOutcome, Middleware, MiddlewareResult } from './middleware.js';

const server = new MCPServer({ name: 'n', version: '1', tools: {} });

describe('types of middleware', () => {
  it('knows the context and the result of each hook', () => {
    const returned = server.use({
      async onRequest(context, next) {
        expectTypeOf(context.method).toEqualTypeOf<string>();
        expectTypeOf(context.name).toEqualTypeOf<string | undefined>();
        const outcome = await next();
        expectTypeOf(outcome).toEqualTypeOf<MeasuredOutcome>();
        return { result: { ...outcome.result, extra: 1 } };
      },
      async onCallTool(context, next) {
        expectTypeOf(context.name).toEqualTypeOf<string>();
        expectTypeOf(context.method).toEqualTypeOf<'tools/call'>();
        context.arguments = { ...context.arguments, limit: 10 };
        expectTypeOf(await next()).toEqualTypeOf<unknown>();
        return 'any value of a tool';
      },
      onList: async (_context, next) => {
        expectTypeOf(await next()).toEqualTypeOf<MiddlewareResult>();
        return { tools: [] };
      },
      onReadResource: () => ({ contents: [] }),
    });
    expectTypeOf(returned).toEqualTypeOf<MCPServer>();
  });

  it('rejects hooks of other names and results', () => {
    // @ts-expect-error there is no such hook
    server.use({ onToolCall: async () => 1 });
    // @ts-expect-error a list is an object
    const invalid: Middleware = { onList: async () => [] };
    void invalid;
  });
});
