import { beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { majors } from '../../test/ai-sdk-majors.js';
import { Agent, type AiSdk } from '@quiver/core/agent';
import { ModelRouterEmbeddingModel, type LanguageModel } from '@quiver/core/llm';
import { RequestContext } from '@quiver/core/request-context';
import {
  createTool,
  type ElicitResult,
  type Tool,
  type ToolAnnotations,
  type ToolMcpContext,
} from '@quiver/core/tools';
import { noMcpContext } from '../tools/mcp-context.js';

/** The samples of the specification with the scope replaced, each followed by what its text promises. */

let printed: string[] = [];
beforeEach(() => {
  printed = [];
});
/** Replacement of the console in the samples. */
const print = (...values: string[]): void => void printed.push(values.join(' '));

const sdk6 = majors[1]!;

describe('createTool()', () => {
  it('defines a tool that reverses its input', async () => {
    const tool = createTool({
      id: 'test-tool',
      description: 'Reverse the input string',
      inputSchema: z.object({
        input: z.string(),
      }),
      outputSchema: z.object({
        output: z.string(),
      }),
      execute: async (inputData) => {
        const reversed = inputData.input.split('').reverse().join('');

        return {
          output: reversed,
        };
      },
    });
    const tools: Record<string, Tool> = { tool };
    expect(Object.keys(tools)).toEqual(['tool']);
    expect(await tool.execute({ input: 'abc' })).toEqual({ output: 'cba' });
  });

  it('carries annotations for MCP', async () => {
    const fetchWeather = async (location: string) => `sunny in ${location}`;
    const weatherTool = createTool({
      id: 'get-weather',
      description: 'Get current weather for a location',
      inputSchema: z.object({
        location: z.string().describe('City name or coordinates'),
      }),
      mcp: {
        annotations: {
          title: 'Weather Lookup',
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: true,
        },
        _meta: {
          version: '1.0.0',
          category: 'weather',
        },
      },
      execute: async (inputData) => {
        const weather = await fetchWeather(inputData.location);
        return { weather };
      },
    });
    expectTypeOf(weatherTool.mcp?.annotations).toEqualTypeOf<ToolAnnotations | undefined>();
    expect(weatherTool.mcp?.annotations?.title).toBe('Weather Lookup');
    expect(weatherTool.mcp?._meta).toEqual({ version: '1.0.0', category: 'weather' });
    expect(await weatherTool.execute({ location: 'Oslo' })).toEqual({ weather: 'sunny in Oslo' });
  });
});

describe('tool lifecycle hooks', () => {
  it('are accepted on tools without execute', async () => {
    const tool = createTool({
      id: 'example-tool',
      description: 'Example tool with hooks',
      inputSchema: z.object({
        city: z.string(),
      }),
      onInputStart: ({ toolCallId, messages, abortSignal }) => {
        void [messages, abortSignal];
        print(`Tool ${toolCallId} input streaming started`);
      },
      onInputDelta: ({ inputTextDelta, toolCallId, messages, abortSignal }) => {
        void [toolCallId, messages, abortSignal];
        print(`Received input chunk: ${inputTextDelta}`);
      },
      onInputAvailable: ({ input, toolCallId, messages, abortSignal }) => {
        void [toolCallId, messages, abortSignal];
        expectTypeOf(input).toEqualTypeOf<{ city: string }>();
        print(`Tool received complete input:`, JSON.stringify(input));
      },
    });
    const { model } = sdk6.createModel([{ call: 'tool', input: { city: 'Oslo' }, toolCallId: 'c1' }]);
    await sdk6.stream({ model, tools: { tool }, prompt: 'go' });
    expect(printed).toEqual([
      'Tool c1 input streaming started',
      'Received input chunk: {"city":',
      'Received input chunk: "Oslo"}',
      'Tool received complete input: {"city":"Oslo"}',
    ]);
  });

  it('receive the output', async () => {
    const tool = createTool({
      id: 'example-tool',
      description: 'Example tool with hooks',
      outputSchema: z.object({
        result: z.string(),
      }),
      execute: async (_input) => {
        return { result: 'Success' };
      },
      onOutput: ({ output, toolCallId, toolName, abortSignal }) => {
        void [toolCallId, abortSignal];
        expectTypeOf(output).toEqualTypeOf<{ result: string }>();
        print(`${toolName} execution completed:`, output.result);
      },
    });
    await tool.execute({});
    expect(printed).toEqual(['example-tool execution completed: Success']);
  });
});

describe('request context', () => {
  it('overrides what was set at creation, key by key', () => {
    const requestContext = new RequestContext<{
      vectorStoreName: string;
      indexName: string;
      topK: number;
      filter: Record<string, unknown>;
    }>();
    requestContext.set('vectorStoreName', 'my-store');
    requestContext.set('indexName', 'my-index');
    requestContext.set('topK', 5);
    requestContext.set('filter', { category: 'docs' });
    requestContext.set('randomWalkSteps', 100);
    requestContext.set('restartProb', 0.15);
    expect(requestContext.get('topK')).toBe(5);
    expect(requestContext.get('randomWalkSteps')).toBe(100);
    expect(requestContext.size()).toBe(6);
  });
});

describe('model strings', () => {
  it('name an embedding model', () => {
    const model = new ModelRouterEmbeddingModel('openai/text-embedding-3-small');
    expect(model).toMatchObject({ provider: 'openai', modelId: 'text-embedding-3-small' });
  });
});

describe('Agent', () => {
  it('is made with little, and described for MCP', () => {
    const myAgent = new Agent({
      id: 'my-example-agent',
      name: 'MyExampleAgent',
      description: 'A generalist to help with basic questions.',
      instructions: 'You are a helpful assistant.',
      model: 'openai/gpt-5.1',
    });
    expect(myAgent).toMatchObject({
      id: 'my-example-agent',
      name: 'MyExampleAgent',
      description: 'A generalist to help with basic questions.',
    });
    expect(new Agent({ id: 'agent', tools: {} }).id).toBe('agent');
  });

  it('receives toolsets for one call', async () => {
    const { model, calls } = sdk6.createModel([{ call: 'weather_forecast', input: {} }, { say: 'It is sunny.' }]);
    const agent = new Agent({
      id: 'multi-tool-agent',
      name: 'Multi-tool Agent',
      instructions: 'You help users check stocks and weather.',
      model: model as LanguageModel,
      ai: sdk6.sdk as AiSdk,
    });
    const forecast = createTool({ id: 'forecast', description: 'Forecast', execute: async () => 'sunny' });
    const response = await agent.stream('How is AAPL doing and what is the weather?', {
      toolsets: { weather: { weather_forecast: forecast } },
    });
    expect(await response.text).toBe('It is sunny.');
    expect(calls()[0]?.tools?.map((tool) => tool.name)).toEqual(['weather_forecast']);
  });
});

describe('the MCP context of a tool', () => {
  const collectContactInfo = createTool({
    id: 'collectContactInfo',
    description: 'Collects user contact information through elicitation',
    inputSchema: z.object({
      reason: z.string().optional().describe('Reason for collecting contact info'),
    }),
    execute: async (inputData, context) => {
      const result: ElicitResult = await context.mcp.elicitation.sendRequest({
        message: inputData.reason ?? 'Please provide your contact information',
        requestedSchema: {
          type: 'object',
          properties: { name: { type: 'string', title: 'Full Name' } },
          required: ['name'],
        },
      });
      return result.action === 'accept'
        ? `Thanks, ${String(result.content.name)}`
        : `The user chose to ${result.action}`;
    },
  });

  const getUserData = createTool({
    id: 'get-user-data',
    description: 'Fetches data for the authenticated user',
    inputSchema: z.object({}),
    execute: async (_inputData, context) => {
      const mcpExtra = context?.mcp?.extra ?? context?.requestContext?.get('mcp.extra');
      const authInfo = mcpExtra?.authInfo;
      if (!authInfo?.extra?.userId) {
        return { error: 'Authentication required' };
      }
      return {
        userId: authInfo.extra.userId as string,
        email: authInfo.extra.email as string,
      };
    },
  });

  const mcp = (action: ElicitResult['action']): ToolMcpContext => ({
    ...noMcpContext,
    extra: { authInfo: { token: 't', extra: { userId: '123', email: 'test@example.com' } } },
    elicitation: { sendRequest: async () => ({ action, content: { name: 'Ann' } }) },
  });

  it('asks the user', async () => {
    expect(await collectContactInfo.execute({}, { mcp: mcp('accept') })).toBe('Thanks, Ann');
    expect(await collectContactInfo.execute({}, { mcp: mcp('decline') })).toBe('The user chose to decline');
  });

  it('knows who is calling, directly and through an agent', async () => {
    const user = { userId: '123', email: 'test@example.com' };
    expect(await getUserData.execute({}, { mcp: mcp('accept') })).toEqual(user);
    const requestContext = new RequestContext([['mcp.extra', mcp('accept').extra]]);
    expect(await getUserData.execute({}, { requestContext })).toEqual(user);
    expect(await getUserData.execute({})).toEqual({ error: 'Authentication required' });
  });
});
