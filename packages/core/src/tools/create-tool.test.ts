import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { collectLog, named } from '../../test/tools.js';
import { RequestContext } from '../request-context/index.js';
import { toJsonSchema } from '../schema/index.js';
import { createTool, executeTool, getToolId, isToolFailure, isVercelTool, Tool, withRequestContext } from './index.js';

const logged = collectLog();

describe('Tool', () => {
  const options = {
    id: 'double',
    description: 'Doubles',
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }: { n: number }) => 2 * n,
  };

  it('creates what createTool creates', async () => {
    const tool = new Tool(options);
    expect(await tool.execute({ n: 2 })).toBe(4);
    expect(Object.keys(tool)).toEqual(Object.keys(createTool(options)));
  });

  it('recognizes tools of createTool, with and without execute, and their copies', () => {
    const { execute: _, ...client } = options;
    for (const tool of [createTool(options), { ...createTool(options) }, createTool(client), new Tool(options)]) {
      expect(tool).toBeInstanceOf(Tool);
      expect(isVercelTool(tool)).toBe(false);
    }
  });

  it('does not recognize tools of the AI SDK', () => {
    const foreign = { description: 'x', inputSchema: z.object({}), execute: async () => 1 };
    expect(foreign).not.toBeInstanceOf(Tool);
    expect([foreign, { parameters: z.object({}) }, null, 'x', {}].map(isVercelTool)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('tools of AI SDK 4', () => {
  const parameters = z.object({ n: z.number() });
  const execute = async ({ n }: { n: number }) => n;

  it('are validated by their parameters in createTool', async () => {
    const tool = createTool({ ...named(), parameters, execute } as never) as Tool;
    expect(isToolFailure(await tool.execute({ n: 'x' }))).toBe(true);
    expect(await tool.execute({ n: 1 })).toBe(1);
    expect(tool.inputSchema.jsonSchema).toMatchObject({ properties: { n: { type: 'number' } } });
  });

  it('are validated by their parameters in executeTool', async () => {
    const tool = { description: 'x', parameters, execute };
    expect(isToolFailure(await executeTool(tool, { n: 'x' }))).toBe(true);
    expect(await executeTool(tool, { n: 1 })).toBe(1);
    await expect(executeTool({ parameters: 'n', execute } as never, {})).rejects.toMatchObject({
      code: 'SCHEMA_NOT_RECOGNISED',
    });
  });
});

describe('createTool', () => {
  it.each([
    { inputSchema: { args: z.object({ n: z.number() }) } },
    { parameters: { n: z.number() } },
    { outputSchema: { n: z.number() } },
    { inputSchema: { type: 'object', properties: { n: z.number() } } },
  ])('refuses an object whose members are schemas, which would accept everything: %j', (schemas) => {
    expect(() => createTool({ ...named(), execute: async () => 1, ...schemas } as never)).toThrow(
      'an object whose members are schemas. Wrap it',
    );
  });

  it('makes tools that later changes of the options do not affect', async () => {
    const options = { id: 'first', description: 'd', execute: async () => 'first' };
    const first = createTool(options);
    Object.assign(options, { id: 'second', execute: async () => 'second', inputSchema: { type: 'string' } });
    expect(await first.execute({})).toBe('first');
    expect(await createTool({ ...options, inputSchema: undefined }).execute({})).toBe('second');
  });

  it('keeps every option', () => {
    const inputSchema = z.object({ a: z.string() });
    const outputSchema = z.object({ b: z.string() });
    const mcp = { annotations: { readOnlyHint: true, title: 'Reader' }, _meta: { version: '1.0.0' } };
    const options = {
      title: 'Title',
      strict: true,
      inputExamples: [{ input: { a: 'x' } }],
      providerOptions: { openai: { cache: true } },
      mcp,
    };
    const tool = createTool({
      id: 'full',
      description: 'Everything',
      inputSchema,
      outputSchema,
      ...options,
      requireApproval: true,
      execute: async ({ a }) => ({ b: a }),
    });
    expect(tool).toMatchObject({ description: 'Everything', outputSchema, ...options, needsApproval: true });
    expect(getToolId(tool)).toBe('full');
    expect(tool.mcp).toBe(mcp);
  });

  it.each([
    ['no id', { description: 'x' }],
    ['an empty id', { id: '', description: 'x' }],
    ['no description', { id: 'x' }],
  ])('refuses a tool with %s', (_name, options) => {
    expect(() => createTool(options as never)).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }));
  });

  // Programs in JavaScript pass any option.
  const toolWith = (options: object) =>
    createTool({ ...named(), execute: async () => 1, ...options } as {
      id: string;
      description: string;
    });

  it('rejects unknown options of mcp and of mcp.task', () => {
    expect(() => toolWith({ mcp: { scope: ['admin'] } })).toThrow(
      "createTool has no option 'mcp.scope'. Did you mean 'mcp.scopes'? The options of 'mcp' are: annotations, icons, _meta, scopes, resultLimit, task.",
    );
    expect(() => toolWith({ mcp: { task: { ttl: 5 } } })).toThrow("Did you mean 'mcp.task.ttlMs'?");
    expect(toolWith({ mcp: { task: 'optional', annotations: { anything: 1 }, _meta: { any: 1 } } }).mcp).toMatchObject({
      task: 'optional',
    });
  });

  it('rejects an approval that is neither true, false nor a function', () => {
    for (const name of ['requireApproval', 'needsApproval'])
      expect(() => toolWith({ [name]: 'always' })).toThrow(
        `createTool: '${name}' must be true, false or a function, not 'always'.`,
      );
  });

  it('accepts needsApproval, the name in the AI SDK', async () => {
    class Options {
      readonly id = 't';
      readonly needsApproval = true;
      readonly execute = async () => 1;
      get description(): string {
        return 'x';
      }
    }
    for (const options of [{ ...new Options(), description: 'x' }, new Options()]) {
      const tool = createTool(options);
      expect(tool).toMatchObject({ needsApproval: true, description: 'x' });
      // Calls of AI SDK 5, which cannot ask, are rejected.
      await expect(tool.execute({}, { experimental_context: undefined, onFailure: 'throw' })).rejects.toMatchObject({
        code: 'TOOL_APPROVAL_MISSING',
      });
    }
    const copy = createTool({ ...toolWith({ requireApproval: () => false }), id: 'copy' });
    expect((copy.needsApproval as () => boolean)()).toBe(false);
    expect(() => toolWith({ requireApproval: false, needsApproval: true })).toThrow(
      "createTool: 'requireApproval' and 'needsApproval' are two names of one option, and their values differ. Remove one.",
    );
  });

  it('accepts names of migrated code that have no effect, with one warning each', async () => {
    const schema = z.object({ ok: z.boolean() });
    for (let count = 0; count < 2; count += 1)
      createTool({
        ...named(),
        suspendSchema: schema,
        resumeSchema: schema,
        background: { enabled: true },
        transform: {},
        mastra: {},
        mcp: { toolType: 'agent' },
        execute: async () => 1,
      });
    expect(logged.map((line) => /'(.*)'/.exec(line)?.[1]).toSorted()).toEqual([
      'background',
      'mastra',
      'mcp.toolType',
      'resumeSchema',
      'suspendSchema',
      'transform',
    ]);
    expect(logged[0]).toContain("createTool ignores the option 'suspendSchema': tools cannot be suspended.");
  });

  it("keeps the methods of the user's schema", () => {
    const tool = createTool({ ...named(), inputSchema: z.object({ a: z.string() }), execute: async () => 1 });
    expect(tool.inputSchema.parse({ a: 'x' })).toEqual({ a: 'x' });
    expect(tool.inputSchema.extend({ b: z.number() }).parse({ a: 'x', b: 1 })).toEqual({ a: 'x', b: 1 });
    expect(tool.inputSchema).toBeInstanceOf(z.ZodObject);
  });

  it('describes input as JSON Schema, once', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, 'x-order': ['a'] } as const;
    const tool = createTool({ ...named(), inputSchema: schema, execute: async () => 1 });
    expect(toJsonSchema(tool.inputSchema, 'input')).toBe(schema);
  });

  it('accepts any input without an input schema', async () => {
    const tool = createTool({ ...named(), execute: async (input: unknown) => input });
    expect(await executeTool(tool, { anything: 1 })).toEqual({ anything: 1 });
    expect(await tool.execute(undefined)).toBeUndefined();
  });

  it('is offered without a description of its input when that cannot be written, and says which tool it is', () => {
    const schema = { '~standard': { version: 1 as const, vendor: 'odd', validate: (value: unknown) => ({ value }) } };
    const tool = createTool({ ...named('odd-one'), inputSchema: schema, execute: async () => 1 });
    expect(toJsonSchema(tool.inputSchema, 'input')).toEqual({ type: 'object' });
    expect(logged).toEqual([expect.stringContaining("Tool 'odd-one'")]);
  });

  it('calls the approval function with the parsed input and the context', async () => {
    const requestContext = new RequestContext([['role', 'admin']]);
    const tool = createTool({
      ...named(),
      inputSchema: z.object({ amount: z.number() }),
      requireApproval: ({ amount }, context) => amount > 10 && context.requestContext.get('role') !== 'admin',
      execute: async () => 'paid',
    });
    const needsApproval = tool.needsApproval as (input: unknown, options?: object) => unknown;
    expect(needsApproval({ amount: 5 })).toBe(false);
    expect(needsApproval({ amount: 50 })).toBe(true);
    expect(needsApproval({ amount: 50 }, { experimental_context: requestContext })).toBe(false);
  });

  it('leaves a call by hand to the one who makes it, approval or not', async () => {
    const tool = createTool({ ...named(), requireApproval: true, execute: async () => 'ran' });
    expect(await tool.execute({})).toBe('ran');
  });
});

describe('a driver that runs all hooks itself and copies the input', () => {
  it('causes each hook to fire once, and onOutput not after a failure', async () => {
    const events: unknown[] = [];
    const tool = createTool({
      ...named(),
      inputSchema: z.object({ n: z.number() }),
      onInputAvailable: ({ input }) => events.push(input),
      onOutput: ({ output }) => events.push(output),
      execute: async ({ n }) => n * 2,
    });
    const drive = async (input: { n: number }, toolCallId: string) => {
      const messages: unknown[] = [];
      await tool.onInputAvailable?.({ input, toolCallId, messages });
      const output = await tool.execute(structuredClone(input), { toolCallId, messages });
      await tool.onOutput?.({ output: output as number, toolCallId, toolName: 't' });
    };
    await drive({ n: 1 }, 'call_0');
    await drive({ n: 2 }, 'call_0');
    expect(events).toEqual([{ n: 1 }, 2, { n: 2 }, 4]);
    events.length = 0;
    await drive({ n: 'x' as never }, 'call_1');
    expect(events).toEqual([{ n: 'x' }]);
  });
});

describe('a tool that yields', () => {
  const count = createTool({
    ...named('count'),
    inputSchema: z.object({ to: z.number() }),
    outputSchema: z.object({ at: z.number().transform((at) => at * 10) }),
    execute: async function* ({ to }, { abortSignal }) {
      for (let at = 1; at <= to; at += 1) yield { at };
      if (abortSignal) await new Promise(() => {});
    },
    onOutput: ({ output }) => {
      outputs.push(output);
    },
  });
  const outputs: unknown[] = [];

  it('passes on every value, parsed, and announces the last one', async () => {
    const seen: unknown[] = [];
    for await (const value of count.execute({ to: 3 })) seen.push(value);
    expect(seen).toEqual([{ at: 10 }, { at: 20 }, { at: 30 }]);
    expect(outputs).toEqual([{ at: 30 }]);
  });

  it('yields a value as soon as the tool does', async () => {
    const tool = createTool({
      ...named(),
      execute: async function* () {
        yield 'loading';
        await new Promise(() => {});
      },
    });
    const iterator = tool.execute({})[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 'loading' });
  });

  it('yields the failure when input is invalid', async () => {
    const seen: unknown[] = [];
    for await (const value of count.execute({ to: 'x' as never })) seen.push(value);
    expect(seen.map((value) => isToolFailure(value))).toEqual([true]);
  });

  it('stops when its caller aborts or goes away', async () => {
    const call = async () => {
      for await (const _value of count.execute({ to: 2 }, { abortSignal: AbortSignal.timeout(10) }));
    };
    await expect(call()).rejects.toMatchObject({ name: 'TimeoutError' });

    let isClosed = false;
    const endless = createTool({
      ...named(),
      execute: async function* () {
        try {
          for (;;) yield 1;
        } finally {
          isClosed = true;
        }
      },
    });
    for await (const _value of endless.execute({})) break;
    await Promise.resolve();
    expect(isClosed).toBe(true);
  });
});

describe('withRequestContext', () => {
  const requestContext = new RequestContext([['tenant', 'acme']]);
  const tool = createTool({
    ...named(),
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }, context) => `${String(context.requestContext.get('tenant'))} ${n}`,
  });

  it('gives the context to every call and overrides that of the caller', async () => {
    const bound = withRequestContext({ tool }, requestContext);
    expect(await bound.tool.execute({ n: 1 })).toBe('acme 1');
    expect(await executeTool(bound.tool, { n: 1 })).toBe('acme 1');
    expect(await bound.tool.execute({ n: 1 }, { requestContext: new RequestContext() })).toBe('acme 1');
    expect(await tool.execute({ n: 1 })).toBe('undefined 1');
  });

  it('keeps ids, and tools without execute', async () => {
    const client = createTool({ id: 'client', description: 'x' });
    const bound = withRequestContext({ client, tool }, requestContext);
    expect(bound.client).toBe(client);
    expect(getToolId(bound.tool)).toBe('t');
  });

  it('keeps preliminary results', async () => {
    const stream = createTool({
      ...named('s'),
      execute: async function* (_input, context) {
        yield context.requestContext.get('tenant') as string;
      },
    });
    const seen: unknown[] = [];
    for await (const value of withRequestContext({ stream }, requestContext).stream.execute({})) seen.push(value);
    expect(seen).toEqual(['acme']);
  });
});
