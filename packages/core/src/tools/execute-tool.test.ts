import { tool as sdkTool } from 'ai-v6';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { expectError } from '../../../../scripts/test-error.ts';
import { collectLog, named } from '../../test/tools.js';
import { acceptV0Calls } from '../compat/index.js';
import { RequestContext } from '../request-context/index.js';
import type * as Tools from './index.js';
import {
  createTool,
  executeTool,
  isToolFailure,
  withRequestContext,
  type ToolContext,
  type ToolFailure,
} from './index.js';

const logged = collectLog();

const add = createTool({
  ...named('add'),
  inputSchema: z.object({ a: z.number(), b: z.number().default(10) }),
  outputSchema: z.object({ sum: z.number(), note: z.string().default('ok') }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

/** A tool that says what happened, in order. */
function createRecorder() {
  const events: unknown[] = [];
  const record = (name: string) => (event: object) => {
    events.push([name, event]);
  };
  const tool = createTool({
    ...named('recorder'),
    inputSchema: z.object({ n: z.number() }),
    outputSchema: z.object({ doubled: z.number() }),
    onInputStart: record('start'),
    onInputDelta: record('delta'),
    onInputAvailable: record('available'),
    onOutput: record('output'),
    execute: async ({ n }) => {
      events.push(['execute', n]);
      if (n === 13) throw new Error('unlucky');
      return { doubled: n === 7 ? ('seven' as never) : n * 2 };
    },
  });
  return { tool, events, names: () => events.map((event) => (event as [string])[0]) };
}

describe('executeTool', () => {
  it('parses the input, runs, and returns the parsed output', async () => {
    expect(await executeTool(add, { a: 1 })).toEqual({ sum: 11, note: 'ok' });
    expect(await add.execute({ a: 1, b: 2 })).toEqual({ sum: 3, note: 'ok' });
  });

  it('runs the hooks in order, with their documented arguments', async () => {
    const { tool, events } = createRecorder();
    const { signal } = new AbortController();
    const messages = [{ role: 'user', content: 'double 2' }];
    await executeTool(tool, { n: 2 }, { toolCallId: 'call-1', toolName: 'double', messages, abortSignal: signal });
    expect(events).toEqual([
      ['available', { input: { n: 2 }, toolCallId: 'call-1', messages, abortSignal: signal }],
      ['execute', 2],
      ['output', { output: { doubled: 4 }, toolCallId: 'call-1', toolName: 'double', abortSignal: signal }],
    ]);
  });

  it('logs a hook that throws and continues', async () => {
    const fails = () => {
      throw new Error('hook broke');
    };
    const tool = createTool({
      id: 'careless',
      description: 'x',
      onInputAvailable: fails,
      onOutput: async () => fails(),
      execute: async () => 'done',
    });
    expect(await executeTool(tool, {})).toBe('done');
    expect(logged).toEqual([
      "[quiver] error: Hook onInputAvailable of tool 'careless' failed and was ignored: hook broke",
      "[quiver] error: Hook onOutput of tool 'careless' failed and was ignored: hook broke",
    ]);
  });

  it('calls no hook but the ones before an error', async () => {
    const thrown = createRecorder();
    await expect(executeTool(thrown.tool, { n: 13 })).rejects.toThrow('unlucky');
    expect(thrown.names()).toEqual(['available', 'execute']);
    const invalidInput = createRecorder();
    await executeTool(invalidInput.tool, { n: 'x' });
    expect(invalidInput.names()).toEqual([]);
    const invalidOutput = createRecorder();
    await executeTool(invalidOutput.tool, { n: 7 });
    expect(invalidOutput.names()).toEqual(['available', 'execute']);
  });

  it.each([new Error('boom'), 'text', null, undefined, Object.freeze({ frozen: true })])(
    'passes on what the tool throws: %s',
    async (thrown) => {
      const tool = createTool({ ...named(), execute: () => Promise.reject(thrown as Error) });
      await expect(executeTool(tool, {})).rejects.toBe(thrown);
    },
  );

  it('waits for a schema with asynchronous checks', async () => {
    const tool = createTool({
      ...named(),
      inputSchema: z.object({ name: z.string().refine(async (name) => name === 'free', 'is taken') }),
      outputSchema: z.string().transform(async (text) => text.toUpperCase()),
      execute: async ({ name }) => name,
    });
    expect(await executeTool(tool, { name: 'free' })).toBe('FREE');
    expect(await executeTool(tool, { name: 'x' })).toMatchObject({ error: true });
  });

  it('says what to do about a tool without execute', async () => {
    const tool = createTool({ id: 'confirm', description: 'x' });
    await expectError(executeTool(tool, {}), 'TOOL_NOT_EXECUTABLE', "'confirm'");
  });

  it('names a missing tool', async () => {
    const tools: Record<string, Tools.ToolLike> = {};
    await expect(executeTool(tools['forecast'] as Tools.ToolLike, {})).rejects.toMatchObject({
      code: 'TOOL_NOT_EXECUTABLE',
      message: 'executeTool needs a tool, not undefined. Check the name under which the tool is looked up.',
    });
  });

  it('returns the last value of a tool that yields, and closes it when the caller gives up', async () => {
    let isClosed = false;
    const tool = createTool({
      ...named(),
      execute: async function* (_input, { abortSignal }) {
        try {
          yield 'one';
          yield 'two';
          if (abortSignal) await new Promise(() => {});
        } finally {
          isClosed = true;
        }
      },
    });
    expect(await executeTool(tool, {})).toBe('two');
    expect(isClosed).toBe(true);
  });

  it('validates only the last value of a tool that yields', async () => {
    const tool = createTool({
      ...named(),
      outputSchema: z.object({ percent: z.number().min(100) }),
      execute: async function* () {
        yield { percent: 50 };
        yield { percent: 100 };
      },
    });
    expect(await executeTool(tool, {}, { onFailure: 'throw' })).toEqual({ percent: 100 });
  });

  it('rejects where it cannot start', async () => {
    const foreign = {
      get inputSchema(): never {
        throw new Error('no schema');
      },
      execute: () => 1,
    };
    const legacy = acceptV0Calls({ ...add, inputSchema: (() => 1) as never });
    await expect(executeTool(foreign, {})).rejects.toThrow('no schema');
    await expectError(executeTool(legacy, { context: {} }), 'SCHEMA_NOT_RECOGNISED');
  });
});

describe('a failed validation', () => {
  it('is returned, with paths, arguments and a tree', async () => {
    const tool = createTool({
      ...named('nested'),
      inputSchema: z.object({ user: z.object({ age: z.number() }), tags: z.array(z.string()) }),
      execute: async () => 'never',
    });
    const result = (await executeTool(tool, { user: { age: 'x' }, tags: ['a', 1] })) as ToolFailure;
    expect(isToolFailure(result)).toBe(true);
    const [heading, first, second, blank, ...provided] = result.message.split('\n');
    expect(heading).toBe('Tool input validation failed for nested. Please fix the following errors and try again:');
    expect(first).toMatch(/^- user\.age: /);
    expect(second).toMatch(/^- tags\.1: /);
    expect(blank).toBe('');
    expect(provided.join('\n')).toBe(
      `Provided arguments: ${JSON.stringify({ user: { age: 'x' }, tags: ['a', 1] }, null, 2)}`,
    );
    expect(result.validationErrors.fields['user']?.fields['age']?.errors).toHaveLength(1);
    expect(result.validationErrors.fields['tags']?.fields['1']?.errors).toHaveLength(1);
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ error: true });
  });

  it('names the root when the whole input is wrong', async () => {
    expect(((await executeTool(add, 5)) as ToolFailure).message).toContain('\n- root: ');
  });

  it('is returned for an output that does not fit', async () => {
    const { tool } = createRecorder();
    const result = (await executeTool(tool, { n: 7 })) as ToolFailure;
    expect(isToolFailure(result)).toBe(true);
    expect(result.message).toMatch(
      /^Tool output validation failed for recorder\. The tool returned invalid output:\n- doubled: /,
    );
    expect(result.message).toContain('Returned output: {\n  "doubled": "seven"\n}');
  });

  it('is returned for a request context that does not fit, without its values', async () => {
    const tool = createTool({
      ...named('tenant'),
      requestContextSchema: z.object({ tenantId: z.string() }),
      execute: async () => 'ran',
    });
    expect(await executeTool(tool, {}, { requestContext: new RequestContext([['tenantId', 'acme']]) })).toBe('ran');
    const requestContext = new RequestContext([
      ['apiKey', 'sk-very-secret'],
      ['email', 'ann@example.com'],
    ]);
    const result = (await executeTool(tool, {}, { requestContext })) as ToolFailure;
    expect(result.message).toMatch(/^Tool request context validation failed for tenant\./);
    expect(result.message).toContain('- tenantId: ');
    expect(result.message).toContain('"email": "(string)"');
    expect(result.message).not.toContain('sk-very-secret');
    expect(result.message).not.toContain('ann@example.com');
  });

  it('shows no secret, however deep, also inside JSON text', async () => {
    const input = {
      password: 'hunter2',
      nested: { API_KEY: 'sk-1', accessToken: 't-1', authorization: 'Bearer b-1', credentials: { user: 'u-1' } },
      text: '{"client_secret":"cs-1"}',
    };
    for (const given of [input, JSON.stringify(input), [input]]) {
      const { message } = (await executeTool(add, given)) as ToolFailure;
      for (const secret of ['hunter2', 'sk-1', 't-1', 'b-1', 'u-1', 'cs-1']) expect(message).not.toContain(secret);
      expect(message).toContain('[redacted]');
    }
  });

  it('cuts long arguments', async () => {
    const { message } = (await executeTool(add, { a: 'x'.repeat(1000) })) as ToolFailure;
    expect(message).toMatch(/x\.\.\. \(truncated\)$/);
    expect(message.slice(message.indexOf('Provided arguments: ')).length).toBeLessThan(250);
  });

  it('shows arguments that JSON cannot carry', async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    expect(((await executeTool(add, circular)) as ToolFailure).message).toContain('(cannot be shown as JSON)');
    expect(((await executeTool(add, { a: 1n })) as ToolFailure).message).toContain('"a": "1n"');
  });

  it('cannot be imitated by a result of the same shape', async () => {
    const tool = createTool({
      ...named(),
      execute: async () => ({ error: true, message: 'mine', validationErrors: { errors: [], fields: {} } }),
    });
    expect(isToolFailure(await executeTool(tool, {}))).toBe(false);
  });

  it('is thrown on request', async () => {
    await expect(executeTool(add, { a: 'x' }, { onFailure: 'throw' })).rejects.toMatchObject({
      code: 'TOOL_VALIDATION_FAILED',
      message: expect.stringContaining('- a: ') as string,
      details: { validationErrors: { fields: { a: { errors: [expect.any(String)] } } } },
    });
  });

  it('is thrown, and an output let through, also when the tool was wrapped', async () => {
    const outputSchema = z.object({ sum: z.number() });
    const tool = createTool({ ...named(), outputSchema, execute: async () => ({ content: [] }) as never });
    for (const wrapped of [withRequestContext({ tool }, new RequestContext()).tool, acceptV0Calls(tool)]) {
      await expectError(executeTool(wrapped, {}, { onFailure: 'throw' }), 'TOOL_VALIDATION_FAILED');
      expect(await executeTool(wrapped, {}, { acceptOutput: () => true })).toEqual({ content: [] });
    }
  });
});

describe('hostile names', () => {
  it('treats __proto__, constructor and toString as ordinary arguments', async () => {
    const open = createTool({
      ...named('open'),
      inputSchema: { type: 'object', additionalProperties: { type: 'number' } },
      execute: async (input) => Object.keys(input as object),
    });
    const input = JSON.parse('{"__proto__":1,"constructor":2,"toString":3}') as unknown;
    expect(await executeTool(open, input)).toEqual(['__proto__', 'constructor', 'toString']);
    const bad = JSON.parse('{"constructor":{"x":"y"},"toString":"no"}') as unknown;
    const failure = (await executeTool(open, bad)) as ToolFailure;
    expect(Object.keys(failure.validationErrors.fields).sort()).toEqual(['constructor', 'toString']);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('takes them as ids too', async () => {
    for (const id of ['__proto__', 'constructor', 'toString']) {
      const tool = createTool({ ...named(id), inputSchema: z.object({ a: z.string() }), execute: async () => 1 });
      expect(await executeTool(tool, { a: 'x' })).toBe(1);
      expect(((await executeTool(tool, {})) as ToolFailure).message).toContain(`failed for ${id}.`);
    }
  });
});

describe('an output that JSON cannot carry', () => {
  const returning = (output: unknown, outputSchema?: object) =>
    createTool({
      id: 't',
      description: 'x',
      ...(outputSchema && { outputSchema: outputSchema as { type: 'object' } }),
      execute: async () => output as never,
    });

  it('reaches a direct caller unchanged without an output schema', async () => {
    for (const output of [undefined, 1n, new Date(0), new Map([['a', 1]])])
      expect(await executeTool(returning(output), {})).toBe(output);
  });

  it('is refused by a JSON Schema it does not fit', async () => {
    for (const output of [undefined, { at: 1n }]) {
      const result = await executeTool(
        returning(output, { type: 'object', properties: { at: { type: 'string' } } }),
        {},
      );
      expect(isToolFailure(result)).toBe(true);
    }
  });
});

describe('abort', () => {
  const waiting = createTool({
    ...named('waiting'),
    execute: (_input, { abortSignal }) =>
      new Promise((resolve) => {
        abortSignal?.addEventListener('abort', () => {
          heard.push(abortSignal.reason);
          resolve('too late');
        });
      }),
  });
  const deaf = createTool({ ...named('deaf'), execute: () => new Promise(() => {}) });
  const heard: unknown[] = [];

  it('reaches the tool', async () => {
    const controller = new AbortController();
    const call = executeTool(waiting, {}, { abortSignal: controller.signal });
    await Promise.resolve();
    controller.abort(new Error('changed my mind'));
    await expect(call).rejects.toThrow('changed my mind');
    expect(heard).toEqual([controller.signal.reason]);
  });

  it('stops waiting for a tool or a hook that does not listen', async () => {
    const hook = createTool({
      id: 't',
      description: 'x',
      onInputAvailable: () => new Promise(() => {}),
      execute: async () => 1,
    });
    for (const tool of [deaf, hook]) {
      const call = executeTool(tool, {}, { abortSignal: AbortSignal.timeout(10) });
      await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    }
  });

  it('never passes a preliminary output off as the output', async () => {
    const controller = new AbortController();
    const tool = createTool({
      ...named(),
      outputSchema: z.number().refine(async () => {
        await Promise.resolve();
        controller.abort(new Error('changed my mind'));
        return true;
      }),
      execute: async function* () {
        yield 1;
        yield 2;
      },
    });
    const { tool: wrapped } = withRequestContext({ tool }, new RequestContext());
    const call = executeTool(wrapped, {}, { abortSignal: controller.signal });
    await expect(call).rejects.toThrow('changed my mind');
  });

  it('prevents a call that has not begun', async () => {
    const { tool, events } = createRecorder();
    await expect(executeTool(tool, { n: 1 }, { abortSignal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(events).toEqual([]);
  });

  it('prevents a call in the turn of which it fires', async () => {
    let runs = 0;
    // Its call has no asynchronous part.
    const tool = createTool({ ...named(), execute: async () => (runs += 1) });
    const controller = new AbortController();
    const call = executeTool(tool, {}, { abortSignal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(runs).toBe(0);
  });

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(signal, given);
    };
    signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(signal, given);
    };
    await executeTool(add, { a: 1 }, { abortSignal: signal });
    await executeTool(add, { a: 'x' }, { abortSignal: signal });
    expect(listeners).toBe(0);
  });
});

describe('the context of a call', () => {
  const contextOf = async (options: Parameters<typeof executeTool>[2]): Promise<ToolContext> => {
    let seen: ToolContext | undefined;
    const tool = createTool({
      ...named('reader'),
      execute: async (_input, context) => {
        seen = context;
      },
    });
    await executeTool(tool, {}, options);
    if (!seen) throw new Error('the tool did not run');
    return seen;
  };

  it('is complete without any options', async () => {
    const context = await contextOf(undefined);
    expect(context.requestContext.size()).toBe(0);
    expect(context.toolCallId).toMatch(/^[0-9a-f-]{36}$/);
    expect((await contextOf(undefined)).toolCallId).not.toBe(context.toolCallId);
    expect(context.toolName).toBe('reader');
    expect(context.mcp.extra).toBeUndefined();
    expect(Object.keys(context)).not.toContain('agent');
    expect(Object.keys(context)).not.toContain('workflow');
  });

  it('refuses questions outside an MCP call and says why', async () => {
    const { mcp } = await contextOf({});
    const question = { message: 'Sure?', requestedSchema: { type: 'object' as const, properties: {} } };
    await expectError(mcp.elicitation.sendRequest(question), 'TOOL_NOT_CALLED_THROUGH_MCP');
    await expect(mcp.progress({ progress: 1 })).resolves.toBeUndefined();
    await expect(mcp.log('info', 'x')).resolves.toBeUndefined();
  });

  it('groups what belongs to an agent and to a workflow', async () => {
    const messages = [{ role: 'user', content: 'hi' }];
    const workflow = { runId: 'run-1' };
    const context = await contextOf({ toolCallId: 'c', messages, workflow });
    expect(context.agent).toEqual({ toolCallId: 'c', messages });
    expect(context.workflow).toBe(workflow);
    expect(context).not.toHaveProperty('runId');
  });

  it('tells the run that the call belongs to', async () => {
    expect((await contextOf({ runId: 'run-1' })).runId).toBe('run-1');
  });

  it.each(['requestContext', 'context', 'experimental_context'])('finds the request context under %s', async (key) => {
    const requestContext = new RequestContext([['tenant', 'acme']]);
    expect((await contextOf({ [key]: requestContext })).requestContext).toBe(requestContext);
  });

  it('passes a context on that has only the methods of a request context that tools call', async () => {
    const own = { get: () => 'ada', set: () => {}, toJSON: () => ({ user: 'ada' }) } as object as RequestContext;
    for (const options of [
      { requestContext: own },
      { experimental_context: own },
      { context: { requestContext: own } },
    ])
      expect((await contextOf(options)).requestContext).toBe(own);
  });

  it('takes plain objects of the AI SDK, and a request context inside of them', async () => {
    const requestContext = new RequestContext([['tenant', 'acme']]);
    expect((await contextOf({ context: { tenant: 'acme' } })).requestContext.get('tenant')).toBe('acme');
    expect((await contextOf({ experimental_context: { requestContext } })).requestContext).toBe(requestContext);
    expect((await contextOf({ context: 'text' })).requestContext.size()).toBe(0);
  });
});

describe('a tool of another library', () => {
  it('is validated, run and announced like ours', async () => {
    const events: unknown[] = [];
    const foreign = sdkTool({
      description: 'x',
      inputSchema: z.object({ n: z.number().default(1) }),
      outputSchema: z.object({ n: z.number() }),
      onInputAvailable: ({ input }) => {
        events.push(input);
      },
      execute: async ({ n }, { experimental_context, toolCallId }) => ({
        n: n + Number((experimental_context as RequestContext).get('extra')) + toolCallId.length,
      }),
    });
    const requestContext = new RequestContext([['extra', 40]]);
    expect(await executeTool(foreign, {}, { requestContext, toolCallId: 'c' })).toEqual({ n: 42 });
    expect(events).toEqual([{ n: 1 }]);
    expect(isToolFailure(await executeTool(foreign, { n: 'x' }))).toBe(true);
  });

  it('keeps its this', async () => {
    class Counter {
      description = 'x';
      #count = 41;
      async execute() {
        this.#count += 1;
        return this.#count;
      }
    }
    expect(await executeTool(new Counter(), {})).toBe(42);
  });

  it('validates once when it comes from another copy of this package', async () => {
    // The registry of the copy does not know the tools of this one.
    const otherPath = './execute-tool.ts?copy';
    const other = (await import(/* @vite-ignore */ otherPath)) as Pick<typeof Tools, 'executeTool'>;
    const twin = createTool({
      ...named('twin'),
      inputSchema: z.object({ text: z.string().transform((text) => `${text}!`) }),
      execute: async ({ text }) => text,
    });
    expect(other.executeTool).not.toBe(executeTool);
    expect(await other.executeTool(twin, { text: 'hi' })).toBe('hi!');
    expect(isToolFailure(await other.executeTool(twin, {}))).toBe(true);
  });
});

describe('the options of executeTool', () => {
  const tool = createTool({ ...named(), execute: async (_input, context) => context });

  it('may be the context of another tool, or the options of the AI SDK', async () => {
    const outer = createTool({
      ...named('outer'),
      execute: (input, context) => executeTool(tool, input, context) as Promise<object>,
    });
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(await outer.execute({}, { toolCallId: '1', messages })).toMatchObject({ toolName: 'outer' });
    const options = { toolCallId: '1', messages, context: {}, experimental_sandbox: {} };
    expect(await executeTool(tool, {}, options)).toMatchObject({ toolCallId: '1' });
  });
});
