import { generateText } from 'ai-v7';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { majors, toolResultsSeenBy } from '../../test/ai-sdk-majors.js';
import { RequestContext } from '../request-context/index.js';
import { createTool as createToolV1, executeTool, isToolFailure, type ToolMcpContext } from '../tools/index.js';
import { noMcpContext } from '../tools/mcp-context.js';
import { acceptV0Calls, createTool, RuntimeContext } from './index.js';

const greet = createTool({
  id: 'greet',
  description: 'Greets',
  inputSchema: z.object({ name: z.string().transform((name) => name.toUpperCase()), mark: z.string().default('!') }),
  outputSchema: z.object({ text: z.string() }),
  execute: async ({ context, runtimeContext }) => ({
    text: `${String(runtimeContext.get('greeting') ?? 'Hi')} ${context.name}${context.mark}`,
  }),
});

describe('createTool of the v0 API', () => {
  it('is called in the older form', async () => {
    const runtimeContext = new RuntimeContext<{ greeting: string }>();
    runtimeContext.set('greeting', 'Hello');
    expect(await greet.execute({ context: { name: 'Ann' }, runtimeContext })).toEqual({ text: 'Hello ANN!' });
    expect(await greet.execute({ context: { name: 'Ann', mark: '?' } })).toEqual({ text: 'Hi ANN?' });
  });

  it('is called in the current form, directly and by `executeTool`', async () => {
    const requestContext = new RequestContext([['greeting', 'Hey']]);
    expect(await greet.execute({ name: 'Ann' }, { requestContext })).toEqual({ text: 'Hey ANN!' });
    expect(await executeTool(greet, { name: 'Ann' }, { requestContext })).toEqual({ text: 'Hey ANN!' });
    expect(isToolFailure(await executeTool(greet, {}))).toBe(true);
  });

  it.each(majors)('is a tool of AI SDK $version', async (major) => {
    const { model, calls } = major.createModel([{ call: 'greet', input: { name: 'Ann' } }, { say: 'done' }]);
    await major.generate({ model, tools: { greet }, prompt: 'go' });
    expect(toolResultsSeenBy(calls())).toEqual([{ type: 'json', value: { text: 'Hi ANN!' } }]);
  });

  it('fits the types of the AI SDK', () => {
    void (() => generateText({ model: 'x', prompt: 'y', tools: { greet } }));
    expect(greet.description).toBe('Greets');
  });

  it('passes on what MCP knows about the call', async () => {
    const tool = createTool({
      id: 'ask',
      description: 'Asks',
      execute: async (_call, options) => {
        const { action } = await options.elicitation.sendRequest({
          message: 'Sure?',
          requestedSchema: { type: 'object', properties: {} },
        });
        return `${action} in ${String(options.extra?.sessionId)} for ${options.toolCallId}`;
      },
    });
    const mcp: ToolMcpContext = {
      ...noMcpContext,
      extra: { sessionId: 's-1' },
      elicitation: { sendRequest: async () => ({ action: 'accept' }) },
    };
    expect(await executeTool(tool, {}, { mcp, toolCallId: 'c-1' })).toBe('accept in s-1 for c-1');
    await expect(tool.execute({ context: {} })).rejects.toMatchObject({ code: 'TOOL_NOT_CALLED_THROUGH_MCP' });
  });

  it('does not treat an input with the key context as a v0 call', async () => {
    const tool = createTool({
      id: 'search',
      description: 'Searches',
      inputSchema: z.object({ context: z.string() }),
      execute: async ({ context }) => context.context,
    });
    expect(await tool.execute({ context: 'present form' })).toBe('present form');
  });

  it('needs no argument when there is no input', async () => {
    const tool = createTool({ id: 'now', description: 'x', execute: async () => 'now' });
    expect(await tool.execute()).toBe('now');
  });

  it('stops for its signal', async () => {
    const tool = createTool({ id: 'slow', description: 'x', execute: () => new Promise<string>(() => {}) });
    await expect(tool.execute({ context: {} }, { abortSignal: AbortSignal.timeout(5) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });
});

describe('acceptV0Calls', () => {
  it('lets a present tool be called in the older form, hooks once', async () => {
    const outputs: unknown[] = [];
    const tool = acceptV0Calls(
      createToolV1({
        id: 't',
        description: 'x',
        inputSchema: z.object({ queryText: z.string(), topK: z.number().default(10) }),
        execute: async (input, context) => ({ ...input, tenant: context.requestContext.get('tenant') as unknown }),
        onOutput: ({ output }) => {
          outputs.push(output);
        },
      }),
    );
    const runtimeContext = new RuntimeContext([['tenant', 'acme']]);
    const expected = { queryText: 'foo', topK: 1, tenant: 'acme' };
    expect(await tool.execute({ context: { queryText: 'foo', topK: 1 }, runtimeContext })).toEqual(expected);
    expect(outputs).toEqual([expected]);
    expect(await executeTool(tool, { queryText: 'foo' })).toMatchObject({ topK: 10 });
    expect(outputs).toHaveLength(2);
  });
});
