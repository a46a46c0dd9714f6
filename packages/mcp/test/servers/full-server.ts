import { createTool } from '@quiver/core/tools';
import { MCPServer, type MCPServerConfig, type Prompt } from '@quiver/mcp/server';
import { z } from 'zod';

const prompts: Prompt[] = [
  {
    name: 'review',
    description: 'Reviews code',
    version: 'v1',
    arguments: [{ name: 'code', required: true }, { name: 'language' }],
  },
  { name: 'review', description: 'Reviews code, better', version: 'v2', arguments: [{ name: 'code', required: true }] },
  { name: 'everything', description: 'All kinds of content' },
  { name: 'asks', description: 'Asks first' },
];

/** A server with one of everything. */
export function createFullServer(config: Partial<MCPServerConfig> = {}): MCPServer {
  const server: MCPServer = new MCPServer({
    name: 'Full',
    version: '1.0.0',
    tools: {
      sample: createTool({
        id: 'sample',
        description: "Asks the client's model",
        execute: async (_input, { mcp }) => {
          const messages = [{ role: 'user' as const, content: { type: 'text', text: 'Capital of France?' } }];
          const { text, model } = await mcp.sample({ messages, maxTokens: 10 });
          return `${model}: ${text}`;
        },
      }),
      roots: createTool({
        id: 'roots',
        description: "Asks for the client's roots",
        execute: async (_input, { mcp }) => (await mcp.roots()).map(({ uri }) => uri),
      }),
      visit: createTool({
        id: 'visit',
        description: 'Sends the user to a page',
        inputSchema: z.object({ url: z.string().default('https://example.com/pay') }),
        execute: async ({ url }, { mcp }) => {
          const { action } = await mcp.elicitation.sendRequest({ mode: 'url', message: 'Please pay', url });
          return action;
        },
      }),
      raw: createTool({
        id: 'raw',
        description: "Sends a request in the protocol's own words",
        inputSchema: z.object({ method: z.string() }),
        execute: async ({ method }, { mcp }) => mcp.extra?.sendRequest?.({ method, params: {} }),
      }),
      capabilities: createTool({
        id: 'capabilities',
        description: 'Tells what the client can do',
        execute: async (_input, { mcp }) => mcp.clientCapabilities,
      }),
      change: createTool({
        id: 'change',
        description: 'Announces changes',
        execute: async () => {
          await server.resources.notifyUpdated({ uri: 'note://watched' });
          await server.resources.notifyUpdated({ uri: 'note://other' });
          await server.resources.notifyListChanged();
          await server.prompts.notifyListChanged();
          await server.toolActions.notifyListChanged();
          return 'announced';
        },
      }),
    },
    resources: {
      listResources: async () => [
        { uri: 'note://watched', name: 'Watched', mimeType: 'text/plain' },
        { uri: 'note://bytes', name: 'Bytes', mimeType: 'application/octet-stream' },
        { uri: 'note://folder', name: 'Folder' },
        { uri: 'note://broken', name: 'Broken' },
        { uri: 'note://gone', name: 'Gone' },
        { uri: 'note://odd', name: 'Odd' },
        { uri: 'note://asks', name: 'Asks' },
      ],
      resourceTemplates: async () => [
        { uriTemplate: 'user://{id}/profile{?lang}', name: 'Profile', mimeType: 'application/json' },
      ],
      getResourceContent: async ({ uri, variables, mcp }) => {
        switch (uri) {
          case 'note://watched':
            return { text: 'watched' };
          case 'note://bytes':
            return { blob: new Uint8Array([0, 255, 1]) };
          case 'note://folder':
            return [
              { uri: 'note://folder/a', text: 'a', mimeType: 'text/markdown' },
              { uri: 'note://folder/b', blob: 'AAE=' },
            ];
          case 'note://broken':
            throw new Error('the disk is full');
          case 'note://gone':
            return undefined;
          case 'note://odd':
            return { nothing: 1 } as never;
          case 'note://asks':
            return { text: String((await mcp.roots())[0]?.uri) };
          default:
            return { text: JSON.stringify(variables) };
        }
      },
      completeVariable: async ({ variable, value, uriTemplate }) => [`${uriTemplate} ${variable} ${value}`],
    },
    prompts: {
      listPrompts: async () => prompts,
      getPromptMessages: async ({ name, version, args, mcp }) => {
        if (name === 'everything') {
          return [
            { role: 'user', content: { type: 'text', text: 'text' } },
            { role: 'assistant', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
            { role: 'user', content: { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' } },
            { role: 'user', content: { type: 'resource_link', uri: 'note://watched', name: 'Watched' } },
            { role: 'user', content: { type: 'resource', resource: { uri: 'note://x', text: 'x' } } },
          ];
        }
        if (name === 'asks') {
          const [root] = await mcp.roots();
          return [{ role: 'user', content: { type: 'text', text: `Work in ${root?.uri}` } }];
        }
        const prompt = prompts.find((other) => other.name === name && other.version === (version ?? 'v1')) as Prompt;
        return {
          prompt,
          messages: [{ role: 'user', content: { type: 'text', text: `${prompt.version}: ${args.code}` } }],
        };
      },
      completeArgument: async ({ argument, value, resolved }) =>
        value === 'many'
          ? Array.from({ length: 250 }, (_, index) => `v${index}`)
          : [`${argument}=${value}`, ...Object.values(resolved)],
    },
    ...config,
  });
  return server;
}
