import { generateText as generateText5, type ToolSet as ToolSet5 } from 'ai-v5';
import { generateText as generateText6, type ToolSet as ToolSet6 } from 'ai-v6';
import { generateText as generateText7, type ToolSet as ToolSet7 } from 'ai-v7';
import { describe, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import { createTool, isToolFailure, type Tool, type ToolCallResult, type ToolFailure } from './index.js';

const weather = createTool({
  id: 'weather',
  description: 'Current weather',
  inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
  outputSchema: z.object({ celsius: z.number() }),
  execute: async ({ city, days }, context) => {
    expectTypeOf(city).toEqualTypeOf<string>();
    expectTypeOf(days).toEqualTypeOf<number>();
    void context.requestContext;
    return { celsius: city.length };
  },
  onInputAvailable: ({ input }) => {
    expectTypeOf(input).toEqualTypeOf<{ city: string; days: number }>();
  },
  onOutput: ({ output, toolName }) => {
    expectTypeOf(output).toEqualTypeOf<{ celsius: number }>();
    expectTypeOf(toolName).toEqualTypeOf<string>();
  },
});

const older = createTool({
  id: 'older',
  description: 'Written with zod 3',
  inputSchema: z3.z.object({ text: z3.z.string() }),
  execute: async ({ text }) => ({ length: text.length }),
});

const client = createTool({
  id: 'client',
  description: 'Answered by the application',
  inputSchema: z.object({ q: z.string() }),
});

const plain = createTool({
  id: 'plain',
  description: 'Described by JSON Schema',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
  execute: async (input) => String(input.q),
});

const tools = { weather, older, client, plain };

describe('types of tools', () => {
  it('infers input and output, and accepts input without its defaults', () => {
    expectTypeOf(weather.execute({ city: 'Oslo' })).resolves.toEqualTypeOf<ToolCallResult<{ celsius: number }>>();
    expectTypeOf(older.execute({ text: 'a' })).resolves.toEqualTypeOf<ToolCallResult<{ length: number }>>();
    expectTypeOf(plain.execute({ q: 'a' })).resolves.toEqualTypeOf<ToolCallResult<string>>();
    // @ts-expect-error a required field is missing
    void weather.execute({});
    // @ts-expect-error a tool without execute cannot be called
    void client.execute;
  });

  it('offers the output after the failure was excluded, or where a failure is thrown', async () => {
    const result = await weather.execute({ city: 'Oslo' });
    // @ts-expect-error the result may be a failure
    void result.celsius.toFixed();
    expectTypeOf(result.celsius).toEqualTypeOf<number | undefined>();
    if (isToolFailure(result)) expectTypeOf(result.message).toEqualTypeOf<string>();
    else expectTypeOf(result).toEqualTypeOf<{ celsius: number }>();
    const thrown = weather.execute({ city: 'Oslo' }, { onFailure: 'throw' });
    expectTypeOf(thrown).resolves.toEqualTypeOf<{ celsius: number }>();
    expectTypeOf<ToolCallResult<string[]>>().toEqualTypeOf<string[] | ToolFailure>();
  });

  it('refuses an output that does not fit the output schema', () => {
    createTool({
      id: 'x',
      description: 'x',
      outputSchema: z.object({ celsius: z.number() }),
      // @ts-expect-error the output schema wants a number
      execute: async () => ({ celsius: 'warm' }),
    });
  });

  it('yields preliminary results with their type', () => {
    const stream = createTool({
      id: 'stream',
      description: 'Yields',
      inputSchema: z.object({ n: z.number() }),
      execute: async function* ({ n }) {
        yield { step: n };
      },
    });
    expectTypeOf(stream.execute({ n: 1 })).toEqualTypeOf<AsyncIterable<ToolCallResult<{ step: number }>>>();
  });
});

describe('Tool without type parameters', () => {
  it('is any tool', () => {
    const stream = createTool({
      id: 'stream',
      description: 'Yields',
      inputSchema: z.object({ n: z.number() }),
      execute: async function* ({ n }) {
        yield { step: n };
      },
    });
    const any: Record<string, Tool> = { weather, older, plain, stream };
    const set: ToolSet7 = any;
    void set;
    void any['weather']?.execute({ anything: 1 });
  });

  it('can name its schemas', () => {
    const named: Tool<typeof weather.inputSchema, NonNullable<typeof weather.outputSchema>> = weather;
    expectTypeOf(named.execute({ city: 'Oslo' })).resolves.toEqualTypeOf<ToolCallResult<{ celsius: number }>>();
  });
});

describe('tools in generateText', () => {
  it('fits AI SDK 5', () => {
    const set: ToolSet5 = tools;
    void set;
    const run = () => generateText5({ model: 'x', prompt: 'y', tools });
    type Call = Extract<Awaited<ReturnType<typeof run>>['staticToolResults'][number], { toolName: 'weather' }>;
    expectTypeOf<Call['output']>().toEqualTypeOf<{ celsius: number }>();
    expectTypeOf<Call['input']>().toEqualTypeOf<{ city: string; days: number }>();
  });

  it('fits AI SDK 6', () => {
    const set: ToolSet6 = tools;
    void set;
    const run = () => generateText6({ model: 'x', prompt: 'y', tools });
    type Call = Extract<Awaited<ReturnType<typeof run>>['staticToolResults'][number], { toolName: 'weather' }>;
    expectTypeOf<Call['output']>().toEqualTypeOf<{ celsius: number }>();
    expectTypeOf<Call['input']>().toEqualTypeOf<{ city: string; days: number }>();
  });

  it('fits AI SDK 7', () => {
    const set: ToolSet7 = tools;
    void set;
    const run = () => generateText7({ model: 'x', prompt: 'y', tools });
    type Call = Extract<Awaited<ReturnType<typeof run>>['staticToolResults'][number], { toolName: 'weather' }>;
    expectTypeOf<Call['output']>().toEqualTypeOf<{ celsius: number }>();
    expectTypeOf<Call['input']>().toEqualTypeOf<{ city: string; days: number }>();
  });
});
