import { Agent } from '@quiver/core/agent';
import { createTool } from '@quiver/core/tools';
import {
  MCPServer,
  type MCPServerPrompts,
  type MCPServerResourceContent,
  type MCPServerResources,
  type Prompt,
  type PromptMessage,
  type Resource,
  type ResourceTemplate,
} from '@quiver/mcp/server';
import { describe, expect, test } from 'vitest';
import { afterTest } from '../../test/after-test.ts';
import { z } from 'zod';
import { openSession, rpc, send } from '../../test/clients/wire.ts';

/** The samples of the specification, section MCPServer, with the scope replaced, each followed by what its text promises. */

async function callLegacy(server: MCPServer, method: string, params?: object) {
  afterTest(() => server.close({ grace: 100 }));
  const { url } = await server.listen();
  const headers = await openSession(url);
  return (await send(url, { headers, body: rpc(method, params) })).json;
}

describe('Constructor', () => {
  const myAgent = new Agent({
    id: 'my-example-agent',
    name: 'MyExampleAgent',
    description: 'A generalist to help with basic questions.',
    instructions: 'You are a helpful assistant.',
    model: 'openai/gpt-5.1',
  });
  const weatherTool = createTool({
    id: 'getWeather',
    description: 'Gets the current weather for a location.',
    inputSchema: z.object({ location: z.string() }),
    execute: async (inputData) => `Weather in ${inputData.location} is sunny.`,
  });
  const dataProcessingWorkflow = {
    description: 'Processes data',
    createRun: async () => ({ start: async () => ({ status: 'success' }) }),
  };
  const server = new MCPServer({
    id: 'my-custom-server',
    name: 'My Custom Server',
    version: '1.0.0',
    description: 'A server that provides weather data and agent capabilities',
    instructions: 'Use the available tools to help users with weather information and data processing tasks.',
    tools: { weatherTool },
    agents: { myAgent }, // this agent will become tool "ask_myAgent"
    workflows: {
      dataProcessingWorkflow, // this workflow will become tool "run_dataProcessingWorkflow"
    },
  });

  test('offers the tool under its key, the agent and the workflow', async () => {
    expect(server.getToolListInfo().tools.map(({ name, toolType }) => [name, toolType])).toEqual([
      ['weatherTool', 'tool'],
      ['ask_myAgent', 'agent'],
      ['run_dataProcessingWorkflow', 'workflow'],
    ]);
    expect(server.getToolInfo('ask_myAgent')?.description).toBe(
      "Ask agent 'MyExampleAgent' a question. Agent description: A generalist to help with basic questions.",
    );
    expect(await server.executeTool('weatherTool', { location: 'Oslo' })).toBe('Weather in Oslo is sunny.');
    expect(server.getServerInfo()).toMatchObject({ id: 'my-custom-server', name: 'My Custom Server' });
    expect(Object.keys(server.tools())).toContain('ask_myAgent');
  });
});

test('an agent without a description stops the set-up', () => {
  const silent = new Agent({ name: 'myAgent', instructions: 'x', model: 'openai/gpt-5.1' });
  expect(() => new MCPServer({ name: 's', version: '1', tools: {}, agents: { silent } })).toThrow(
    "Agent 'myAgent' (key: 'silent') must have a non-empty description",
  );
});

describe('Resource Handling', () => {
  // Resources/resource templates will generally be dynamically fetched.
  const myResources: Resource[] = [{ uri: 'file://data/123.txt', name: 'Data File', mimeType: 'text/plain' }];

  const myResourceContents: Record<string, MCPServerResourceContent> = {
    'file://data.txt/123': { text: 'This is the content of the data file.' },
    'file://data/123.txt': { text: 'And this.' },
  };

  const myResourceTemplates: ResourceTemplate[] = [
    {
      uriTemplate: 'file://data/{id}',
      name: 'Data File',
      description: 'A file containing data.',
      mimeType: 'text/plain',
    },
  ];

  const myResourceHandlers: MCPServerResources = {
    listResources: async () => myResources,
    getResourceContent: async ({ uri }) => {
      if (myResourceContents[uri]) {
        return myResourceContents[uri];
      }
      throw new Error(`Resource content not found for ${uri}`);
    },
    resourceTemplates: async () => myResourceTemplates,
  };

  const create = (): MCPServer =>
    new MCPServer({
      id: 'resourceful-server',
      name: 'Resourceful Server',
      version: '1.0.0',
      tools: {},
      resources: myResourceHandlers,
    });

  test('a listed resource is read with its type', async () => {
    const read = await callLegacy(create(), 'resources/read', { uri: 'file://data/123.txt' });
    expect(read.result.contents).toEqual([{ uri: 'file://data/123.txt', mimeType: 'text/plain', text: 'And this.' }]);
  });

  test('a URI that only the template matches reaches the callback, and its error the client', async () => {
    const read = await callLegacy(create(), 'resources/read', { uri: 'file://data/5' });
    expect(read.error.message).toBe('Resource content not found for file://data/5');
  });

  test('publishes changes without subscribers', async () => {
    const serverWithResources = create();
    await serverWithResources.resources.notifyUpdated({ uri: 'file://data.txt' });
    await expect(serverWithResources.resources.notifyListChanged()).resolves.toBeUndefined();
  });
});

describe('Prompt Handling', () => {
  const prompts: Prompt[] = [
    { name: 'analyze-code', description: 'Analyze code for improvements', version: 'v1' },
    { name: 'analyze-code', description: 'Analyze code for improvements (new logic)', version: 'v2' },
  ];

  const myPromptHandlers: MCPServerPrompts = {
    listPrompts: async () => prompts,
    getPromptMessages: async ({ name, version, args }) => {
      if (name === 'analyze-code') {
        if (version === 'v2') {
          const prompt = prompts.find((p) => p.name === name && p.version === 'v2');
          if (!prompt) throw new Error('Prompt version not found');
          return {
            prompt,
            messages: [
              {
                role: 'user',
                content: { type: 'text', text: `Analyze this code with the new logic: ${args.code}` },
              },
            ],
          };
        }
        // Default or v1
        const prompt = prompts.find((p) => p.name === name && p.version === 'v1');
        if (!prompt) throw new Error('Prompt version not found');
        const messages: PromptMessage[] = [
          { role: 'user', content: { type: 'text', text: `Analyze this code: ${args.code}` } },
        ];
        return { prompt, messages };
      }
      throw new Error('Prompt not found');
    },
  };

  test.each([
    [{}, 'Analyze this code: x'],
    [{ _meta: { 'quiver/version': 'v2' } }, 'Analyze this code with the new logic: x'],
  ])('%j gets its messages', async (version, text) => {
    const serverWithPrompts = new MCPServer({
      id: 'promptful-server',
      name: 'Promptful Server',
      version: '1.0.0',
      tools: {},
      prompts: myPromptHandlers,
    });
    const params = { name: 'analyze-code', arguments: { code: 'x' }, ...version };
    const got = await callLegacy(serverWithPrompts, 'prompts/get', params);
    expect(got.result.messages).toEqual([{ role: 'user', content: { type: 'text', text } }]);
    await serverWithPrompts.prompts.notifyListChanged();
  });
});
