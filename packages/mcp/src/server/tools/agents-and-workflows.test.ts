import { RequestContext } from '@quiver/core/request-context';
import { createTool, isToolFailure } from '@quiver/core/tools';
import { generateText, stepCountIs } from 'ai-v7';
import { MockLanguageModelV4 } from 'ai-v7/test';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { afterTest } from '../../../test/after-test.ts';
import { captureLog } from '../../../test/capture-log.ts';
import { eras } from '../../../test/eras.ts';
import { modern, openSession, rpc, send, toRequest } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import type { MCPServerConfig } from '../features.js';

function serve(config: Partial<MCPServerConfig>): MCPServer {
  const server = new MCPServer({ name: 'Agents', version: '1', tools: {}, ...config });
  afterTest(() => server.close({ grace: 100 }));
  return server;
}

interface Asked {
  prompt: unknown;
  options: { requestContext?: { get(key: string): unknown }; abortSignal?: AbortSignal };
}

function createAgent(result: unknown, asked: Asked[] = []) {
  return {
    name: 'Helper',
    description: 'Helps.',
    generate: async (prompt: unknown, options: Asked['options']) => {
      asked.push({ prompt, options });
      return result;
    },
  };
}

async function call(running: MCPServer, name: string, args: object, era: 'legacy' | 'modern') {
  const { url } = await running.listen();
  if (era === 'modern') return (await send(url, modern('tools/call', { name, arguments: args }))).json.result;
  const headers = await openSession(url);
  return (await send(url, { headers, body: rpc('tools/call', { name, arguments: args }) })).json.result;
}

describe('an agent', () => {
  test('becomes the tool ask_<key>, described with its name and description', () => {
    const server = serve({ agents: { helper: createAgent({ text: '' }) } });
    expect(server.getToolInfo('ask_helper')).toMatchObject({
      name: 'ask_helper',
      description: "Ask agent 'Helper' a question. Agent description: Helps.",
      inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
      toolType: 'agent',
    });
  });

  test.each(eras)('is asked the message, with the MCP request in its request context (%s)', async (era) => {
    const asked: Asked[] = [];
    const running = serve({ agents: { helper: createAgent({ text: 'Because.', steps: 1 }, asked) } });
    const result = await call(running, 'ask_helper', { message: 'Why?' }, era);
    expect(JSON.parse(result.content[0].text)).toEqual({ text: 'Because.', steps: 1 });
    const context = asked[0]?.options.requestContext;
    expect(asked[0]?.prompt).toBe('Why?');
    expect(context?.get('mcp.extra')).toMatchObject({ requestId: 1 });
    expect(context?.get('requestId')).toBe(1);
    expect(asked[0]?.options.abortSignal).toBeInstanceOf(AbortSignal);
  });

  test('of the AI SDK gets one object', async () => {
    const asked: Asked[] = [];
    const running = serve({ agents: { sdk: { ...createAgent({ text: 'ok' }, asked), version: 'agent-v1' } } });
    await call(running, 'ask_sdk', { message: 'Why?' }, 'modern');
    expect(asked[0]?.prompt).toMatchObject({ prompt: 'Why?' });
  });

  test.each([
    ['a string', 'plain', { text: 'plain' }],
    ['an object only', { object: { a: 1 } }, { object: { a: 1 }, text: '{"a":1}' }],
    ['nothing', undefined, { text: '' }],
  ])('returns text for %s', async (_what, result, expected) => {
    const running = serve({ agents: { helper: createAgent(result) } });
    expect(JSON.parse((await call(running, 'ask_helper', { message: 'm' }, 'modern')).content[0].text)).toEqual(
      expected,
    );
  });

  test('returns an error result for a failing agent, and rejects a missing message before it', async () => {
    const asked: Asked[] = [];
    const agent = { ...createAgent('', asked), generate: async () => Promise.reject(new Error('no model')) };
    const running = serve({ agents: { agent, helper: createAgent('', asked) } });
    expect(await call(running, 'ask_agent', { message: 'm' }, 'modern')).toMatchObject({
      isError: true,
      content: [{ text: 'Error: no model' }],
    });
    expect(await call(running, 'ask_helper', {}, 'modern')).toMatchObject({ isError: true });
    expect(asked).toEqual([]);
  });

  test.each([undefined, '', '  '])('rejects an agent without a description (%j)', (description) => {
    const agent = { ...createAgent(''), description };
    expect(() => serve({ agents: { helper: agent } })).toThrow(
      "Agent 'Helper' (key: 'helper') must have a non-empty description to be used in an MCPServer.",
    );
  });

  test('gives way to a tool of its name, with a warning', async () => {
    const ask_helper = createTool({ id: 'x', description: 'Explicit', execute: async () => 'explicit' });
    const warnings = captureLog('warn');
    const server = serve({ tools: { ask_helper }, agents: { helper: createAgent('') } });
    expect(server.getToolInfo('ask_helper')).toMatchObject({ description: 'Explicit', toolType: 'tool' });
    expect(warnings).toEqual([
      "Agent 'helper' is not served, because a tool is named 'ask_helper'. Rename one of them.",
    ]);
  });
});

const started: { inputData: unknown; requestContext: { get(key: string): unknown } }[] = [];
const createWorkflow = (result: object) => ({
  id: 'etl',
  description: 'Moves data.',
  inputSchema: z.object({ rows: z.number() }),
  createRun: async () => ({
    start: async (options: (typeof started)[number]) => {
      started.push(options);
      return { inputData: options.inputData, ...result };
    },
  }),
});

describe('a workflow', () => {
  test('becomes the tool run_<key> with its input schema, and runs', async () => {
    const running = serve({ workflows: { etl: createWorkflow({ status: 'success', result: { moved: 2 } }) } });
    expect(running.getToolInfo('run_etl')).toMatchObject({
      description: "Run workflow 'etl'. Workflow description: Moves data.",
      inputSchema: { properties: { rows: { type: 'number' } } },
      toolType: 'workflow',
    });
    const result = await call(running, 'run_etl', { rows: 2 }, 'legacy');
    const output = { inputData: { rows: 2 }, status: 'success', result: { moved: 2 } };
    expect(JSON.parse(result.content[0].text)).toEqual(output);
    expect(started.at(-1)?.requestContext.get('mcp.extra')).toMatchObject({ requestId: 1 });
  });

  test('returns a failed run as an error result with its reason', async () => {
    const workflow = createWorkflow({ status: 'failed', error: new Error('no space') });
    const result = await call(serve({ workflows: { etl: workflow } }), 'run_etl', { rows: 2 }, 'modern');
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0].text).toContain('no space');
  });

  test('of the older kind, with createRunAsync, runs too; one with neither is an error result', async () => {
    const older = {
      description: 'd',
      createRunAsync: async () => ({ start: async () => ({ status: 'success' }) }),
    };
    const running = serve({ workflows: { older, neither: { description: 'd' } } });
    expect((await call(running, 'run_older', {}, 'modern')).content[0].text).toBe('{"status":"success"}');
    expect((await call(running, 'run_neither', {}, 'modern')).content[0].text).toContain('neither createRun()');
  });

  test('rejects a workflow without a description', () => {
    expect(() => serve({ workflows: { etl: { id: 'etl' } } })).toThrow(
      "Workflow 'etl' (key: 'etl') must have a non-empty description",
    );
  });

  test('is cancelled when the client goes away', async () => {
    let started = 0;
    let cancelled = 0;
    const slow = {
      description: 'd',
      createRun: () => {
        started += 1;
        return { start: () => new Promise(() => {}), cancel: () => (cancelled += 1) };
      },
    };
    const { url } = await serve({ workflows: { slow } }).listen();
    const { headers, body } = modern('tools/call', { name: 'run_slow' });
    const controller = new AbortController();
    const request = new Request(url, toRequest({ headers, body }));
    const calling = fetch(request, { signal: controller.signal }).catch(() => 'gone');
    await expect.poll(() => started).toBe(1);
    controller.abort();
    expect(await calling).toBe('gone');
    await expect.poll(() => cancelled).toBe(1);
  });
});

describe('tools() outside of a request', () => {
  test('returns agents and workflows that can be called', async () => {
    const asked: Asked[] = [];
    const { ask_helper: ask, run_etl: run } = serve({
      agents: { helper: createAgent({ text: 'Because.' }, asked) },
      workflows: { etl: createWorkflow({ status: 'success' }) },
    }).tools();
    expect(await ask?.execute({ message: 'Why?' })).toEqual({ text: 'Because.' });
    expect(asked[0]?.prompt).toBe('Why?');
    expect(asked[0]?.options.requestContext?.get('mcp.extra')).toBeUndefined();
    expect(await run?.execute({ rows: 2 })).toEqual({ inputData: { rows: 2 }, status: 'success' });
    expect(isToolFailure(await ask?.execute({}))).toBe(true);
    expect(isToolFailure(await run?.execute({ rows: 'two' }))).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test('returns agents that pass on the request context and the signal of the call', async () => {
    const asked: Asked[] = [];
    const { ask_helper: ask } = serve({ agents: { helper: createAgent('ok', asked) } }).tools();
    const requestContext = new RequestContext([['user', 'Ann']]);
    const { signal } = new AbortController();
    await ask?.execute({ message: 'Why?' }, { requestContext, abortSignal: signal });
    expect(asked[0]?.options.requestContext?.get('user')).toBe('Ann');
    expect(asked[0]?.options.abortSignal).toBe(signal);
  });

  test('returns tools for generateText; the model reads the text of an agent', async () => {
    const running = serve({
      agents: { helper: createAgent({ text: 'Because.', steps: ['long'] }) },
      workflows: { etl: createWorkflow({ status: 'success' }) },
    });
    const calls = [
      { toolName: 'ask_helper', input: '{"message":"Why?"}' },
      { toolName: 'run_etl', input: '{"rows":2}' },
    ];
    let step = 0;
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        const toolCalls = calls.map((each, index) => ({
          type: 'tool-call' as const,
          toolCallId: `c${index}`,
          ...each,
        }));
        step += 1;
        return {
          content: step === 1 ? toolCalls : [{ type: 'text', text: 'done' }],
          finishReason: { unified: step === 1 ? 'tool-calls' : 'stop', raw: 'x' },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
          warnings: [],
        };
      },
    });
    const { text } = await generateText({ model, tools: running.tools(), prompt: 'go', stopWhen: stepCountIs(2) });
    expect(text).toBe('done');
    expect(model.doGenerateCalls[0]?.tools).toMatchObject([{ name: 'ask_helper' }, { name: 'run_etl' }]);
    expect(model.doGenerateCalls[1]?.prompt.at(-1)?.content).toMatchObject([
      { toolName: 'ask_helper', output: { type: 'text', value: 'Because.' } },
      { toolName: 'run_etl', output: { type: 'json', value: { inputData: { rows: 2 }, status: 'success' } } },
    ]);
  });
});
