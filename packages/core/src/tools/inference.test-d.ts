import { jsonSchema } from 'ai-v6';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-v3';
import { RequestContext } from '../request-context/index.js';
import { createTool, type AnyRequestContext, type ToolCallResult, type ToolContext } from './index.js';

describe('inference from each schema library', () => {
  it('zod 3: output of transforms in, input of defaults out', () => {
    const tool = createTool({
      id: 't',
      description: 'x',
      inputSchema: z3.object({ n: z3.string().transform(Number), d: z3.number().default(1) }),
      outputSchema: z3.object({ at: z3.date().transform(String) }),
      execute: async (input) => {
        expectTypeOf(input).toEqualTypeOf<{ n: number; d: number }>();
        return { at: new Date() };
      },
    });
    expectTypeOf(tool.execute({ n: '1' })).resolves.toEqualTypeOf<ToolCallResult<{ at: string }>>();
    // @ts-expect-error the input of the transform is text
    void tool.execute({ n: true });
  });

  it('zod 4', () => {
    const tool = createTool({
      id: 't',
      description: 'x',
      inputSchema: z.object({ n: z.string().transform(Number), d: z.number().default(1) }),
      outputSchema: z.object({ at: z.date().transform(String) }),
      execute: async (input) => {
        expectTypeOf(input).toEqualTypeOf<{ n: number; d: number }>();
        return { at: new Date() };
      },
      onOutput: ({ output }) => expectTypeOf(output).toEqualTypeOf<{ at: string }>(),
    });
    expectTypeOf(tool.execute({ n: '1' })).resolves.toEqualTypeOf<ToolCallResult<{ at: string }>>();
  });

  it('Valibot', () => {
    const tool = createTool({
      id: 't',
      description: 'x',
      inputSchema: v.object({ n: v.pipe(v.string(), v.transform(Number)), d: v.optional(v.number(), 1) }),
      execute: async (input) => {
        expectTypeOf(input).toEqualTypeOf<{ n: number; d: number }>();
        return input.n;
      },
    });
    expectTypeOf(tool.execute({ n: '1' })).resolves.toEqualTypeOf<ToolCallResult<number>>();
  });

  it('ArkType', () => {
    const tool = createTool({
      id: 't',
      description: 'x',
      inputSchema: type({ city: 'string', 'days?': 'number' }),
      onInputAvailable: ({ input }) => expectTypeOf(input).toEqualTypeOf<{ city: string; days?: number }>(),
      execute: async ({ city }) => city,
    });
    expectTypeOf(tool.execute({ city: 'x' })).resolves.toEqualTypeOf<ToolCallResult<string>>();
  });

  it("the AI SDK's jsonSchema()", () => {
    const tool = createTool({
      id: 't',
      description: 'x',
      inputSchema: jsonSchema<{ city: string }>({ type: 'object' }),
      execute: async (input) => {
        expectTypeOf(input).toEqualTypeOf<{ city: string }>();
        return input.city;
      },
    });
    expectTypeOf(tool.execute({ city: 'x' })).resolves.toEqualTypeOf<ToolCallResult<string>>();
  });

  it('no schema: anything in, the type of what execute returns out', () => {
    const tool = createTool({ id: 't', description: 'x', execute: async () => ({ a: 1 }) });
    expectTypeOf(tool.execute({ anything: 1 })).resolves.toEqualTypeOf<ToolCallResult<{ a: number }>>();
    const synchronous = createTool({ id: 't', description: 'x', execute: () => 'text' });
    expectTypeOf(synchronous.execute({})).resolves.toEqualTypeOf<ToolCallResult<string>>();
  });
});

describe('the context of execute', () => {
  it('is complete where it is always there', () => {
    createTool({
      id: 't',
      description: 'x',
      execute: async (_input, context) => {
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
        expectTypeOf(context.requestContext).toEqualTypeOf<AnyRequestContext>();
        expectTypeOf(context.toolCallId).toEqualTypeOf<string>();
        expectTypeOf(context.abortSignal).toEqualTypeOf<AbortSignal | undefined>();
        expectTypeOf(context.mcp.elicitation.sendRequest).toBeFunction();
        // @ts-expect-error only when a model made the call
        void context.agent.messages;
      },
    });
  });

  it('takes a typed request context from the caller', () => {
    const tool = createTool({ id: 't', description: 'x', execute: async () => 1 });
    void tool.execute({}, { requestContext: new RequestContext<{ tenantId: string }>() });
    // @ts-expect-error not a request context
    void tool.execute({}, { requestContext: { tenantId: 'acme' } });
  });
});

describe('the options of createTool', () => {
  it('are known, under the names of the AI SDK too', () => {
    const base = { id: 't', description: 'x' };
    createTool({
      ...base,
      inputSchema: z.object({ n: z.number() }),
      needsApproval: ({ n }) => n > 1,
      execute: async () => 1,
    });
    createTool({ ...base, suspendSchema: z.object({}), resumeSchema: z.object({}), execute: async () => 1 });
    // @ts-expect-error unknown option
    createTool({ ...base, input_schema: z.object({}), execute: async () => 1 });
  });
});
