// The samples of the older specification (section MCPServer) that differ from today's, with the scope replaced.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Agent } from '@quiver/core/agent';
import { createTool } from '@quiver/core/compat';
import { MCPServer } from '@quiver/mcp';
import { MockLanguageModelV4 } from 'ai-v7/test';
import { expect, test } from 'vitest';
import { afterTest, serveHttp } from '../../test/after-test.ts';
import { z } from 'zod';

async function connect(server: MCPServer, auth?: object): Promise<Client> {
  const httpServer = http.createServer((req, res) =>
    server.startHTTP({
      url: new URL(req.url || '', 'http://localhost:1234'),
      httpPath: `/mcp`,
      req: Object.assign(req, { auth }),
      res,
    }),
  );
  await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve));
  const client = new Client({ name: 'official', version: '1' }, { capabilities: { elicitation: {} } });
  const url = new URL(`http://127.0.0.1:${(httpServer.address() as AddressInfo).port}/mcp`);
  // The SDK's types are not made for exactOptionalPropertyTypes.
  await client.connect(new StreamableHTTPClientTransport(url) as never);
  afterTest(
    () => httpServer.close(),
    () => server.close({ grace: 100 }),
    () => client.close(),
  );
  return client;
}

test('Constructor: a tool of the older form, an agent and a workflow', async () => {
  const myAgent = new Agent({
    name: 'MyExampleAgent',
    description: 'A generalist to help with basic questions.',
    instructions: 'You are a helpful assistant.',
    model: new MockLanguageModelV4({ modelId: 'mock' }),
  });

  const weatherTool = createTool({
    id: 'getWeather',
    description: 'Gets the current weather for a location.',
    inputSchema: z.object({ location: z.string() }),
    execute: async ({ context }) => `Weather in ${context.location} is sunny.`,
  });

  const dataProcessingWorkflow = {
    description: 'Processes data',
    createRunAsync: async () => ({ start: async () => ({ status: 'success' }) }),
  };

  const server = new MCPServer({
    name: 'My Custom Server',
    version: '1.0.0',
    tools: { weatherTool },
    agents: { myAgent }, // this agent will become tool "ask_myAgent"
    workflows: {
      dataProcessingWorkflow, // this workflow will become tool "run_dataProcessingWorkflow"
    },
  });
  const client = await connect(server);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['weatherTool', 'ask_myAgent', 'run_dataProcessingWorkflow']);
  const { content } = await client.callTool({ name: 'weatherTool', arguments: { location: 'Oslo' } });
  expect(content).toEqual([{ type: 'text', text: 'Weather in Oslo is sunny.' }]);
});

test('Using Elicitation in Tools: options.elicitation and options.extra', async () => {
  const sessions: unknown[] = [];
  const server = new MCPServer({
    name: 'Interactive Server',
    version: '1.0.0',
    tools: {
      collectContactInfo: createTool({
        id: 'collectContactInfo',
        description: 'Collects user contact information through elicitation',
        inputSchema: z.object({
          reason: z.string().optional().describe('Reason for collecting contact info'),
        }),
        execute: async ({ context }, options) => {
          const { reason } = context;

          // Log session info if available
          sessions.push(options.extra?.sessionId);

          try {
            // Request user input via elicitation
            const result = await options.elicitation.sendRequest({
              message: reason
                ? `Please provide your contact information. ${reason}`
                : 'Please provide your contact information',
              requestedSchema: {
                type: 'object',
                properties: {
                  name: { type: 'string', title: 'Full Name', description: 'Your full name' },
                  email: { type: 'string', title: 'Email Address', description: 'Your email address', format: 'email' },
                  phone: { type: 'string', title: 'Phone Number', description: 'Your phone number (optional)' },
                },
                required: ['name', 'email'],
              },
            });

            // Handle the user's response
            if (result.action === 'accept') {
              return `Contact information collected: ${JSON.stringify(result.content, null, 2)}`;
            } else if (result.action === 'decline') {
              return 'Contact information collection was declined by the user.';
            } else {
              return 'Contact information collection was cancelled by the user.';
            }
          } catch (error) {
            return `Error collecting contact information: ${error}`;
          }
        },
      }),
    },
  });
  const client = await connect(server);
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
  const { content } = await client.callTool({ name: 'collectContactInfo', arguments: {} });
  expect(content).toEqual([{ type: 'text', text: 'Contact information collection was declined by the user.' }]);
  expect(sessions).toEqual([expect.any(String)]);
});

test('Authentication Context: options.extra carries the token and the signal', async () => {
  const { origin } = await serveHttp((req, res) => res.end(JSON.stringify({ seen: req.headers.authorization })));
  const data = `${origin}/api/data`;
  const getData = createTool({
    id: 'getData',
    description: 'Passes the token of the caller on',
    inputSchema: z.object({}),
    execute: async (_call, options) => {
      if (!options.extra?.authInfo?.token) {
        return 'Authentication required';
      }

      const response = await fetch(data, {
        headers: { Authorization: `Bearer ${options.extra.authInfo.token}` },
        signal: options.extra.signal ?? null,
      });

      return response.json();
    },
  });
  const server = new MCPServer({ name: 's', version: '1', tools: { getData } });
  const { content } = await (await connect(server, { token: 'abc' })).callTool({ name: 'getData', arguments: {} });
  expect(content).toEqual([{ type: 'text', text: '{"seen":"Bearer abc"}' }]);
});
