import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createTool, type ElicitResult } from '@quiver/core/tools';
import { MCPServer, type McpHttpServer } from '@quiver/mcp/server';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { afterTest, serveHttp } from '../../test/after-test.ts';
import { z } from 'zod';
import { openSession, rpc, send, toRequest } from '../../test/clients/wire.ts';

/** The samples of the specification, section MCPServer, whose tools read `context.mcp`: who calls, and what the user answers. */

async function listen(server: MCPServer): Promise<McpHttpServer> {
  afterTest(() => server.close({ grace: 100 }));
  return server.listen();
}

describe('Authentication Context', () => {
  const verifyToken = (_token: string | undefined): { userId: string; email: string } => ({
    userId: '123',
    email: 'test@test.com',
  });

  // 1. Define your tool that uses auth context
  const getUserData = createTool({
    id: 'get-user-data',
    description: 'Fetches data for the authenticated user',
    inputSchema: z.object({}),
    execute: async (_inputData, context) => {
      const authInfo = context?.mcp?.extra?.authInfo;

      if (!authInfo?.extra?.['userId']) {
        return { error: 'Authentication required' };
      }

      // Access the data you set in middleware
      return {
        userId: authInfo.extra['userId'],
        email: authInfo.extra['email'],
      };
    },
  });

  test('what middleware sets on req.auth reaches the tool', async () => {
    // 2. Create the MCP server with your tools
    const server = new MCPServer({ id: 'my-server', name: 'My Server', version: '1.0.0', tools: { getUserData } });

    // 3. Set up Express with auth middleware
    const app = express();

    app.use('/mcp', (req, _res, next) => {
      const token = req.headers.authorization?.replace('Bearer ', '');
      const user = verifyToken(token);

      // This entire object becomes context.mcp.extra.authInfo
      // @ts-ignore - req.auth is read by the MCP SDK
      req.auth = {
        token,
        userId: user.userId,
        email: user.email,
      };
      next();
    });

    app.all('/mcp', async (req, res) => {
      const url = new URL(req.url, `http://${req.headers.host}`);
      await server.startHTTP({ url, httpPath: '/mcp', req, res });
    });

    const url = `${(await serveHttp(app)).origin}/mcp`;
    afterTest(() => server.close({ grace: 100 }));
    const headers = { ...(await openSession(url, { authorization: 'Bearer t' })), authorization: 'Bearer t' };
    const { json } = await send(url, { headers, body: rpc('tools/call', { name: 'getUserData' }) });
    expect(JSON.parse(json.result.content[0].text)).toEqual({ userId: '123', email: 'test@test.com' });
  });
});

test('Accessing Auth Data in Tools', async () => {
  const { origin } = await serveHttp((req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ seen: req.headers.authorization }));
  });
  const data = `${origin}/api/data`;
  const getData = createTool({
    id: 'get-data',
    description: 'Passes the token of the caller on',
    execute: async (_inputData, context) => {
      // Access the auth data you set in middleware
      const authInfo = context?.mcp?.extra?.authInfo;

      if (!authInfo?.extra?.['userId']) {
        return { error: 'Authentication required' };
      }

      const response = await fetch(data, {
        headers: { Authorization: `Bearer ${authInfo.token}` },
        signal: context?.mcp?.extra?.signal ?? null,
      });

      return response.json();
    },
  });
  const server = new MCPServer({ name: 's', version: '1', tools: { getData } });
  const call = async (authInfo?: object): Promise<unknown> => {
    const request = toRequest({ body: rpc('tools/call', { name: 'getData' }) });
    const response = await server.fetch(request, { serverless: true, authInfo });
    const { result } = (await response.json()) as { result: { content: [{ text: string }] } };
    return JSON.parse(result.content[0].text);
  };
  expect(await call({ token: 'abc', userId: '7' })).toEqual({ seen: 'Bearer abc' });
  expect(await call()).toEqual({ error: 'Authentication required' });
});

describe('Accessing MCP Context in Tools', () => {
  test('the universal pattern finds the caller in a direct call and below an agent', async () => {
    const fetchUserData = createTool({
      id: 'fetchUserData',
      description: 'Fetches user data using authentication from MCP context',
      inputSchema: z.object({
        userId: z.string().describe('The ID of the user to fetch'),
      }),
      execute: async (inputData, context) => {
        // Access MCP authentication context
        // When called directly via MCP: context.mcp.extra
        // When called via agent: context.requestContext.get('mcp.extra')
        const mcpExtra = context?.mcp?.extra || context?.requestContext?.get('mcp.extra');
        return `${inputData.userId} in ${mcpExtra?.sessionId}`;
      },
    });
    // An agent that always calls its tool, as a model would.
    const agent = {
      name: 'Caller',
      description: 'Calls its tool.',
      generate: async (message: string, { requestContext }: { requestContext?: never } = {}) => ({
        text: await fetchUserData.execute({ userId: message }, { requestContext }),
      }),
    };
    const server = new MCPServer({ name: 's', version: '1', tools: { fetchUserData }, agents: { agent } });
    const { url } = await listen(server);
    const headers = await openSession(url);
    const session = headers['mcp-session-id'];
    const call = async (name: string, args: object): Promise<string> =>
      (await send(url, { headers, body: rpc('tools/call', { name, arguments: args }) })).json.result.content[0].text;
    expect(await call('fetchUserData', { userId: '7' })).toBe(`7 in ${session}`);
    expect(JSON.parse(await call('ask_agent', { message: '7' }))).toEqual({ text: `7 in ${session}` });
  });
});

describe('Elicitation', () => {
  const collectContactInfo = createTool({
    id: 'collectContactInfo',
    description: 'Collects user contact information through elicitation',
    inputSchema: z.object({
      reason: z.string().optional().describe('Reason for collecting contact info'),
    }),
    execute: async (inputData, context) => {
      const { reason } = inputData;
      try {
        // Request user input via elicitation
        const result = await context.mcp.elicitation.sendRequest({
          message: reason
            ? `Please provide your contact information. ${reason}`
            : 'Please provide your contact information',
          requestedSchema: {
            type: 'object',
            properties: {
              name: { type: 'string', title: 'Full Name', description: 'Your full name' },
              email: {
                type: 'string',
                title: 'Email Address',
                description: 'Your email address',
                format: 'email',
              },
              phone: {
                type: 'string',
                title: 'Phone Number',
                description: 'Your phone number (optional)',
              },
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
  });
  const create = (): MCPServer =>
    new MCPServer({
      id: 'interactive-server',
      name: 'Interactive Server',
      version: '1.0.0',
      tools: { collectContactInfo },
    });

  const contact = { name: 'Ada Lovelace', email: 'ada@example.com' };

  test.each<[ElicitResult, string]>([
    [{ action: 'accept', content: contact }, `Contact information collected: ${JSON.stringify(contact, null, 2)}`],
    [{ action: 'decline' }, 'Contact information collection was declined by the user.'],
    [{ action: 'cancel' }, 'Contact information collection was cancelled by the user.'],
  ])('the tool hears what the user did: %j', async (answer, text) => {
    const { url } = await listen(create());
    const client = new Client({ name: 'official', version: '1' }, { capabilities: { elicitation: {} } });
    const asked: unknown[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { ...answer };
    });
    // The SDK's types are not made for exactOptionalPropertyTypes.
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    afterTest(() => client.close());
    const { content } = await client.callTool({
      name: 'collectContactInfo',
      arguments: { reason: 'For the invoice.' },
    });
    expect(content).toEqual([{ type: 'text', text }]);
    expect(asked).toEqual(['Please provide your contact information. For the invoice.']);
  });

  test('outside an MCP call the sample catches the error and returns it', async () => {
    expect(await create().executeTool('collectContactInfo', {})).toContain('Error collecting contact information');
  });
});
