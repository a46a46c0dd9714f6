import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-v3';
import {
  drives,
  majors,
  toolResultsSeenBy,
  type Major,
  type RunResult,
  type ScriptedStep,
} from '../../test/ai-sdk-majors.js';
import { collectLog, named } from '../../test/tools.js';
import { QuiverError } from '../index.js';
import { RequestContext } from '../request-context/index.js';
import type { Schema } from '../schema/index.js';
import { createTool, withRequestContext, type ToolModelOutput } from './index.js';

const logged = collectLog();

interface Script {
  major: Major;
  mode: 'generate' | 'stream';
  tools: Record<string, unknown>;
  /** Steps of the model before it says `done`. */
  steps: ScriptedStep[];
  options?: Record<string, unknown>;
}

/** Runs the script and returns the result, and the results of the calls that the model received. */
async function run({ major, mode, tools, steps, options }: Script) {
  const { model, calls } = major.createModel([...steps, { say: 'done' }]);
  const result: RunResult = await major[mode]({ model, tools, prompt: 'go', ...options });
  return { ...result, told: toolResultsSeenBy(calls()), calls: calls() };
}

describe.each(drives)('$name', ({ major, mode }) => {
  const isStream = mode === 'stream';
  const call = (tool: object, input: object = {}) =>
    run({ major, mode, tools: { tool }, steps: [{ call: 'tool', input }] });

  it('runs the hooks in order, each once, with their arguments', async () => {
    const events: [string, Record<string, unknown>][] = [];
    const record = (name: string) => (event: object) => {
      events.push([name, event as Record<string, unknown>]);
    };
    const { signal } = new AbortController();
    const weather = createTool({
      ...named('weather-id'),
      inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
      outputSchema: z.object({ celsius: z.number() }),
      onInputStart: record('start'),
      onInputDelta: record('delta'),
      onInputAvailable: record('available'),
      onOutput: record('output'),
      execute: async (input, context) => {
        events.push(['execute', { input, toolCallId: context.toolCallId, abortSignal: context.abortSignal }]);
        return { celsius: 21 };
      },
    });
    const steps = [{ call: 'weather', input: { city: 'Oslo' }, toolCallId: 'call-w' }];
    const result = await run({ major, mode, tools: { weather }, steps, options: { abortSignal: signal } });
    expect(result.text).toBe('done');
    const deltas = isStream ? ['delta', 'delta'] : [];
    expect(events.map(([name]) => name)).toEqual(['start', ...deltas, 'available', 'execute', 'output']);
    for (const [, event] of events) {
      expect(event['toolCallId']).toBe('call-w');
      expect(event['abortSignal']).toBeInstanceOf(AbortSignal);
    }
    const of = (name: string) => events.find(([key]) => key === name)?.[1];
    expect(of('start')?.['messages']).toMatchObject([{ role: 'user' }]);
    expect(of('available')).toMatchObject({ input: { city: 'Oslo', days: 1 }, messages: [{ role: 'user' }] });
    expect(of('output')).toMatchObject({ output: { celsius: 21 }, toolName: 'weather-id' });
    const text = events.filter(([name]) => name === 'delta').map(([, event]) => event['inputTextDelta']);
    expect(text.join('')).toBe(isStream ? '{"city":"Oslo"}' : '');
    expect(result.told).toEqual([{ type: 'json', value: { celsius: 21 } }]);
  });

  it('continues when every hook throws', async () => {
    const fails = () => {
      throw new Error('hook broke');
    };
    const tool = createTool({
      id: 'careless',
      description: 'x',
      onInputStart: fails,
      onInputDelta: fails,
      onInputAvailable: fails,
      onOutput: fails,
      execute: async () => 'fine',
    });
    const result = await call(tool);
    expect(result.text).toBe('done');
    expect(result.told).toEqual([{ type: 'text', value: 'fine' }]);
    const deltas = isStream ? ['onInputDelta', 'onInputDelta'] : [];
    expect(logged.map((line) => /Hook (\w+)/.exec(line)?.[1])).toEqual([
      'onInputStart',
      ...deltas,
      'onInputAvailable',
      'onOutput',
    ]);
  });

  it('tells the model about invalid input, with paths, and does not run the tool', async () => {
    const ran: unknown[] = [];
    const tool = createTool({
      ...named(),
      inputSchema: z.object({ user: z.object({ age: z.number() }) }),
      onInputAvailable: () => {
        ran.push('available');
      },
      execute: async () => ran.push('execute'),
      onOutput: () => {
        ran.push('output');
      },
    });
    const steps = [{ call: 'tool', input: { user: { age: 'old' } } }];
    const result = await run({ major, mode, tools: { tool }, steps });
    expect(result.text).toBe('done');
    expect(ran).toEqual([]);
    const reason = 'user.age: Invalid input: expected number, received string';
    // AI SDK 7 names the classes of its own errors.
    const [outer, inner] = major.version === 7 ? ['AI_InvalidToolInputError: ', 'AI_TypeValidationError: '] : ['', ''];
    const value = `${outer}Invalid input for tool tool: ${inner}Type validation failed: Value: {"user":{"age":"old"}}.\nError message: ${reason}`;
    expect(result.told).toEqual([{ type: 'error-text', value }]);
  });

  it('repairs what models get wrong', async () => {
    const tool = createTool({
      ...named(),
      inputSchema: z.object({ tags: z.array(z.string()), note: z.string().optional() }),
      execute: async (input) => input,
    });
    const { told } = await call(tool, { tags: '["a"]', note: null });
    expect(told).toEqual([{ type: 'json', value: { tags: ['a'] } }]);
  });

  it('enforces the output schema: parsed when it fits, an error for the model when not', async () => {
    const tool = createTool({
      ...named('out'),
      inputSchema: z.object({ good: z.boolean() }),
      outputSchema: z.object({ n: z.number(), note: z.string().default('default') }),
      execute: async ({ good }) => ({ n: good ? 1 : ('one' as never), extra: true }),
    });
    const good = await call(tool, { good: true });
    expect(good.told).toEqual([{ type: 'json', value: { n: 1, note: 'default' } }]);
    const bad = await call(tool, { good: false });
    expect(bad.told).toEqual([
      {
        type: 'error-text',
        value: expect.stringMatching(/^Tool output validation failed for out\.[^]*- n: /) as string,
      },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['an error', new Error('boom'), 'boom'],
    ['an error of another class', new TypeError('boom'), 'boom'],
    ['an error of this package', new QuiverError('X', 'boom'), 'boom'],
    ['a frozen error', Object.freeze(new Error('boom')), major.version === 7 ? 'Error: boom' : 'boom'],
    ['a text', 'boom', 'boom'],
  ])('sends the model the message of %s that the tool threw, in all versions', async (_name, error, value) => {
    const throws = createTool({ ...named(), execute: () => Promise.reject(error as Error) });
    const yields = createTool({
      ...named(),
      execute: async function* () {
        yield 1;
        throw error;
      },
    });
    for (const tool of [throws, yields]) {
      const result = await call(tool);
      expect(result.told).toEqual([{ type: 'error-text', value }]);
      expect(result.text).toBe('done');
      const failed = result.content.find((part) => part.type === 'tool-error') as { error?: unknown } | undefined;
      expect(failed?.error).toBe(error);
    }
  });

  it('gives the model what toModelOutput returns, made from the output', async () => {
    const outputs: ToolModelOutput[] = [
      { type: 'text', value: 'words' },
      { type: 'json', value: { a: [1] } },
    ];
    for (const output of outputs) {
      const tool = createTool({
        ...named(),
        outputSchema: z.object({ celsius: z.number() }),
        execute: async () => ({ celsius: 21 }),
        toModelOutput: ({ celsius }) => (celsius === 21 ? output : { type: 'text', value: 'the wrong argument' }),
      });
      const { told } = await call(tool);
      expect(told).toEqual([output]);
    }
  });

  it('maps parts of a result to the names of this major', async () => {
    const tool = createTool({
      ...named(),
      execute: async () => ({ base64: 'aGk=' }),
      toModelOutput: ({ base64 }) => ({
        type: 'content',
        value: [
          { type: 'text', text: 'a picture' },
          { type: 'image-data', data: base64, mediaType: 'image/png' },
        ],
      }),
    });
    const { told } = await call(tool);
    const picture = {
      5: { type: 'media', data: 'aGk=', mediaType: 'image/png' },
      6: { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
      7: { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png' },
    }[major.version];
    expect(told).toEqual([{ type: 'content', value: [{ type: 'text', text: 'a picture' }, picture] }]);
  });

  it('shows a failed validation to the model, not to toModelOutput', async () => {
    const tool = createTool({
      ...named(),
      outputSchema: z.object({ items: z.array(z.string()) }),
      execute: async () => ({}) as never,
      toModelOutput: ({ items }) => ({ type: 'text', value: items.join() }),
    });
    const { told } = await call(tool);
    expect(told).toEqual([{ type: 'error-text', value: expect.stringContaining('- items: ') as string }]);
  });

  it.each([
    ['undefined', undefined, { type: 'json', value: null }],
    ['a date', { at: new Date(0) }, { type: 'json', value: { at: '1970-01-01T00:00:00.000Z' } }],
    ['a bigint', { n: 12345678901234567890n }, { type: 'json', value: { n: '12345678901234567890' } }],
    [
      'a cycle',
      circular(),
      { type: 'error-text', value: expect.stringContaining('cannot be written as JSON') as string },
    ],
  ])('gives the model a form of %s that every provider can send', async (_name, output, expected) => {
    const tool = createTool({ ...named(), execute: async () => output });
    const result = await call(tool);
    expect(result.told).toEqual([expected]);
    expect(() => JSON.stringify(result.told)).not.toThrow();
  });

  it('reports preliminary results and takes the last one', async () => {
    const tool = createTool({
      ...named(),
      outputSchema: z.object({ at: z.number() }),
      execute: async function* () {
        yield { at: 1 };
        yield { at: 2 };
      },
    });
    const result = await call(tool);
    expect(result.told).toEqual([{ type: 'json', value: { at: 2 } }]);
    const results = result.content.filter((part) => part.type === 'tool-result');
    const preliminary = results.filter((part) => part.preliminary).map((part) => part.output);
    expect(preliminary).toEqual(isStream ? [{ at: 1 }, { at: 2 }] : []);
    expect(results.at(-1)?.output).toEqual({ at: 2 });
  });

  it('brings the request context into the tool, in the same way and in its own', async () => {
    const requestContext = new RequestContext([['tenant', 'acme']]);
    const tool = createTool({
      ...named(),
      execute: async (_input, context) => context.requestContext.get('tenant') as unknown,
    });
    const steps = [{ call: 'tool', input: {} }];
    const bound = await run({ major, mode, tools: withRequestContext({ tool }, requestContext), steps });
    expect(bound.told).toEqual([{ type: 'text', value: 'acme' }]);
    const own = major.version === 7 ? 'toolsContext' : 'experimental_context';
    for (const context of [requestContext, { tenant: 'acme' }, { requestContext }]) {
      const options = { [own]: major.version === 7 ? { tool: context } : context };
      const native = await run({ major, mode, tools: { tool }, steps, options });
      expect(native.told).toEqual([{ type: 'text', value: 'acme' }]);
    }
  });

  it('takes a tool that was spread into another object', async () => {
    const tool = createTool({
      ...named(),
      inputSchema: z.object({ text: z.string().transform((text) => `${text}!`) }),
      execute: async ({ text }) => text,
    });
    const steps = [{ call: 'tool', input: { text: 'hi' } }];
    const { told, calls } = await run({ major, mode, tools: { tool: { ...tool, description: 'other' } }, steps });
    expect(told).toEqual([{ type: 'text', value: 'hi!' }]);
    expect(calls[0]?.tools).toMatchObject([{ name: 'tool', description: 'other' }]);
  });

  const schemas: Record<string, Schema> = {
    'zod 3': z3.object({ city: z3.string() }),
    'zod 4': z.object({ city: z.string() }),
    Valibot: toStandardJsonSchema(v.object({ city: v.string() })),
    ArkType: type({ city: 'string' }),
    'JSON Schema': { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  };

  it.each(Object.entries(schemas))('offers and checks a schema of %s', async (_name, inputSchema) => {
    const tool = createTool({ ...named(), inputSchema, execute: async (input) => input as unknown });
    const good = await call(tool, { city: 'Oslo' });
    expect(good.told).toEqual([{ type: 'json', value: { city: 'Oslo' } }]);
    expect(good.calls[0]?.tools?.[0]?.inputSchema).toMatchObject({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    });
    const bad = await call(tool, { city: 5 });
    expect(bad.told).toMatchObject([{ type: 'error-text', value: expect.stringContaining('city') as string }]);
  });

  it('leaves a call of a tool without execute to the application', async () => {
    const confirm = createTool({ ...named('confirm'), inputSchema: z.object({ q: z.string() }) });
    const result = await run({ major, mode, tools: { confirm }, steps: [{ call: 'confirm', input: { q: 'Sure?' } }] });
    expect(result.calls).toHaveLength(1);
    expect(result.content.filter((part) => part.type === 'tool-call')).toMatchObject([{ input: { q: 'Sure?' } }]);
  });
});

describe.each(majors)('the agent class of AI SDK $version', (major) => {
  it('runs a tool with its hooks', async () => {
    const events: unknown[] = [];
    const tool = createTool({
      ...named(),
      inputSchema: z.object({ n: z.number() }),
      outputSchema: z.object({ doubled: z.number() }),
      onInputAvailable: ({ input }) => {
        events.push(input);
      },
      onOutput: ({ output }) => {
        events.push(output);
      },
      execute: async ({ n }) => ({ doubled: n * 2 }),
    });
    const { model, calls } = major.createModel([{ call: 'tool', input: { n: 21 } }, { say: 'done' }]);
    const result = await major.agent({ model, tools: { tool } }, { prompt: 'go' });
    expect(result.text).toBe('done');
    expect(events).toEqual([{ n: 21 }, { doubled: 42 }]);
    expect(toolResultsSeenBy(calls())).toEqual([{ type: 'json', value: { doubled: 42 } }]);
  });
});

function circular(): object {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
