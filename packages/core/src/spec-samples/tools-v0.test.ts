import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { majors } from '../../test/ai-sdk-majors.js';
import { Agent, type AiSdk, type Workflow } from '@quiver/core/agent';
import { createTool, RuntimeContext } from '@quiver/core/compat';
import type { EmbeddingModel, LanguageModel, MastraLanguageModel } from '@quiver/core/llm';
import { executeTool } from '@quiver/core/tools';
import { noMcpContext } from '../tools/mcp-context.js';

/** The samples of the v0 API with the scope replaced and `createTool` and `RuntimeContext` from `/compat`. */

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
      execute: async ({ context }) => {
        const { input } = context;
        const reversed = input.split('').reverse().join('');

        return {
          output: reversed,
        };
      },
    });
    expect(await tool.execute({ context: { input: 'abc' } })).toEqual({ output: 'cba' });
    expect(await executeTool(tool, { input: 'abc' })).toEqual({ output: 'cba' });
  });

  it('returns text for MCP', async () => {
    const weatherTool = createTool({
      id: 'getWeather',
      description: 'Gets the current weather for a location.',
      inputSchema: z.object({ location: z.string() }),
      execute: async ({ context }) => `Weather in ${context.location} is sunny.`,
    });
    expect(await executeTool(weatherTool, { location: 'Oslo' })).toBe('Weather in Oslo is sunny.');
  });

  it('asks the user through its options', async () => {
    const collectContactInfo = createTool({
      id: 'collectContactInfo',
      description: 'Collects user contact information through elicitation',
      inputSchema: z.object({
        reason: z.string().optional().describe('Reason for collecting contact info'),
      }),
      execute: async ({ context }, options) => {
        const { reason } = context;
        try {
          const result = await options.elicitation.sendRequest({
            message: reason ? `Please provide your contact information. ${reason}` : 'Please',
            requestedSchema: {
              type: 'object',
              properties: { name: { type: 'string', title: 'Full Name', description: 'Your full name' } },
              required: ['name'],
            },
          });
          if (result.action === 'accept') return `${options.extra?.sessionId}: ${JSON.stringify(result.content)}`;
          return `Contact information collection was ${result.action}.`;
        } catch (error) {
          return `Error collecting contact information: ${String(error)}`;
        }
      },
    });
    const mcp = {
      ...noMcpContext,
      extra: { sessionId: 's-1' },
      elicitation: { sendRequest: async () => ({ action: 'accept' as const, content: { name: 'Ann' } }) },
    };
    expect(await executeTool(collectContactInfo, {}, { mcp })).toBe('s-1: {"name":"Ann"}');
    expect(await executeTool(collectContactInfo, {})).toContain('not called through an MCPServer');
  });
});

describe('Agent and Workflow', () => {
  it('are made without an id, and called with a runtimeContext', async () => {
    const major = majors[1]!;
    const { model } = major.createModel([{ call: 'whoAmI', input: {} }, { say: 'Ann' }]);
    const seen: unknown[] = [];
    const whoAmI = createTool({
      id: 'who-am-i',
      description: 'x',
      execute: async ({ runtimeContext }) => seen.push(runtimeContext.get('user')),
    });
    const agent = new Agent({
      name: 'MyExampleAgent',
      instructions: 'You are a helpful assistant.',
      model: model as LanguageModel,
      tools: { whoAmI },
      ai: major.sdk as AiSdk,
    });
    const runtimeContext = new RuntimeContext<{ user: string }>();
    runtimeContext.set('user', 'Ann');
    const response = await agent.generate('Who am I?', { runtimeContext });
    expect(response.text).toBe('Ann');
    expect(seen).toEqual(['Ann']);
  });

  it('have types under the names of the specification', () => {
    const workflow: Workflow = {
      description: 'Processes data',
      inputSchema: z.object({}),
      createRun: () => ({ start: async () => ({ status: 'success' }) }),
    };
    const models: [EmbeddingModel?, MastraLanguageModel?] = [];
    expect([workflow.description, models.length]).toEqual(['Processes data', 0]);
  });
});
