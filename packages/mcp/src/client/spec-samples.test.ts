// oxlint-disable no-console -- the samples print
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { Agent } from '@quiver/core/agent';
import { createTool } from '@quiver/core/tools';
import { MCPClient, MCPServer } from '@quiver/mcp';
import { MastraMCPClient } from '@quiver/mcp/compat';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai-v7/test';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { afterTest, serveHttp } from '../../test/after-test.ts';
import { bothTransports } from '../../test/servers/mount-server.ts';
import { commandFor } from '../../test/programs/spawn-server.ts';

/**
 * The samples of both specifications, section MCPClient and MastraMCPClient, with the scope replaced and the addresses of servers
 * that are there, each followed by what its text promises.
 */

afterEach(() => void vi.restoreAllMocks());

/** The weather server of the samples, over every HTTP transport. Requests without the token are refused when there is one. */
async function startWeather(token?: string): Promise<{ mcp: string; sse: string; server: MCPServer }> {
  const server = new MCPServer({
    name: 'Weather',
    version: '1.0.0',
    tools: {
      current: createTool({
        id: 'current',
        description: 'The weather now',
        execute: async (_, { mcp }) => {
          await mcp.progress({ progress: 1, total: 2, message: 'looking out' });
          return 'sunny';
        },
      }),
      register: createTool({
        id: 'register',
        description: 'Asks who wants to know',
        execute: async (_, { mcp }) => {
          const result = await mcp.elicitation.sendRequest({
            message: 'Who are you?',
            requestedSchema: {
              type: 'object',
              properties: { name: { type: 'string', title: 'Name' }, email: { type: 'string', format: 'email' } },
              required: ['name'],
            },
          });
          return JSON.stringify(result);
        },
      }),
    },
    resources: {
      listResources: async () => [{ uri: 'weather://current', name: 'Current weather', mimeType: 'text/plain' }],
      getResourceContent: async () => ({ text: 'sunny' }),
      resourceTemplates: async () => [{ uriTemplate: 'weather://{city}', name: 'Weather of a city' }],
    },
    prompts: {
      listPrompts: async () => [{ name: 'current', description: 'Asks for the weather' }],
      getPromptMessages: async ({ args }) => [
        {
          role: 'user',
          content: { type: 'text', text: `How is the weather in ${String(args?.['location'] ?? 'Oslo')}?` },
        },
      ],
    },
  });
  const listener = bothTransports(server);
  const { origin } = await serveHttp((req, res) => {
    if (token !== undefined && req.headers.authorization !== `Bearer ${token}`) return void res.writeHead(401).end();
    listener(req, res);
  });
  afterTest(() => server.close({ grace: 100 }));
  return { mcp: `${origin}/mcp`, sse: `${origin}/sse`, server };
}

function closed<Client extends { disconnect(): Promise<void> }>(client: Client): Client {
  afterTest(() => client.disconnect());
  return client;
}

const log = () => vi.spyOn(console, 'log').mockImplementation(() => {});
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finishReason = { unified: 'stop', raw: 'stop' } as const;

/** A model that says which tools it was offered. */
function toolReadingModel(): MockLanguageModelV4 {
  const textOf = (tools: { name: string }[] = []): string => tools.map(({ name }) => name).join(' ');
  return new MockLanguageModelV4({
    doGenerate: async ({ tools }) => ({
      content: [{ type: 'text', text: textOf(tools) }],
      finishReason,
      usage,
      warnings: [],
    }),
    doStream: async ({ tools }) => ({
      stream: convertArrayToReadableStream([
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: textOf(tools) },
        { type: 'text-end', id: '1' },
        { type: 'finish', finishReason, usage },
      ]),
    }),
  });
}

describe('resources', () => {
  test('are listed, read, and watched', async () => {
    const { mcp: url, server } = await startWeather();
    const seen = log();
    const mcpClient = closed(new MCPClient({ servers: { myWeatherServer: { url: new URL(url) } } }));

    const resourcesByServer = await mcpClient.resources.list();
    for (const serverName in resourcesByServer) {
      console.log(`Resources from ${serverName}:`, resourcesByServer[serverName]);
    }
    const templatesByServer = await mcpClient.resources.templates();
    for (const serverName in templatesByServer) {
      console.log(`Templates from ${serverName}:`, templatesByServer[serverName]);
    }
    const content = await mcpClient.resources.read('myWeatherServer', 'weather://current');
    console.log('Current weather:', content.contents[0]?.text);
    expect(seen.mock.calls).toMatchObject([
      ['Resources from myWeatherServer:', [{ uri: 'weather://current', name: 'Current weather' }]],
      ['Templates from myWeatherServer:', [{ uriTemplate: 'weather://{city}' }]],
      ['Current weather:', 'sunny'],
    ]);

    await mcpClient.resources.subscribe('myWeatherServer', 'weather://current');
    await mcpClient.resources.onUpdated('myWeatherServer', (params) => {
      console.log(`Resource updated on myWeatherServer: ${params.uri}`);
    });
    await mcpClient.resources.onListChanged('myWeatherServer', () => {
      console.log('Resource list changed on myWeatherServer.');
    });
    await mcpClient.prompts.onListChanged('myWeatherServer', () => {
      console.log('Prompt list changed on myWeatherServer.');
    });
    await expect
      .poll(async () => {
        await server.resources.notifyUpdated({ uri: 'weather://current' });
        await server.resources.notifyListChanged();
        await server.prompts.notifyListChanged();
        return new Set(seen.mock.calls.slice(3).map(([line]) => line as string));
      })
      .toEqual(
        new Set([
          'Resource updated on myWeatherServer: weather://current',
          'Resource list changed on myWeatherServer.',
          'Prompt list changed on myWeatherServer.',
        ]),
      );
    await mcpClient.resources.unsubscribe('myWeatherServer', 'weather://current');
  });
});

test('prompts are listed and filled in', async () => {
  const { mcp: url } = await startWeather();
  const mcpClient = closed(new MCPClient({ servers: { myWeatherServer: { url: new URL(url) } } }));
  const promptsByServer = await mcpClient.prompts.list();
  expect(promptsByServer['myWeatherServer']).toMatchObject([{ name: 'current' }]);
  const { prompt, messages } = await mcpClient.prompts.get({
    serverName: 'myWeatherServer',
    name: 'current',
    args: { location: 'London' },
  });
  expect(prompt).toMatchObject({ name: 'current' });
  expect(messages).toMatchObject([{ role: 'user', content: { text: 'How is the weather in London?' } }]);
});

test('reports progress with the id of the run, unless it is switched off', async () => {
  const { mcp: url } = await startWeather();
  const updates: unknown[] = [];
  const mcpClient = closed(
    new MCPClient({ servers: { myServer: { url: new URL(url), enableProgressTracking: true } } }),
  );
  await mcpClient.progress.onUpdate('myServer', (params) => {
    updates.push([params.progress, params.total, params.message, params.progressToken]);
  });
  const tools = await mcpClient.listTools();
  await tools['myServer_current']?.execute({}, { runId: 'run-1' });
  expect(updates).toEqual([[1, 2, 'looking out', 'run-1']]);

  const quiet = closed(new MCPClient({ servers: { myServer: { url: new URL(url), enableProgressTracking: false } } }));
  await quiet.progress.onUpdate('myServer', (params) => updates.push(params));
  await (await quiet.listTools())['myServer_current']?.execute({});
  expect(updates).toHaveLength(1);
});

describe('elicitation', () => {
  test('the first example: declines, or answers what it knows', async () => {
    const { mcp: url } = await startWeather();
    log();
    const mcpClient = closed(new MCPClient({ servers: { serverName: { url: new URL(url) } } }));
    await mcpClient.elicitation.onRequest('serverName', async (request) => {
      console.log(`Server requests: ${request.message}`);
      if (request.requestedSchema.properties['name']) {
        return { action: 'accept', content: { name: 'Alice Smith', email: 'alice@example.com' } };
      }
      return { action: 'decline' };
    });
    const { content } = await mcpClient.callTool({ serverName: 'serverName', name: 'register' });
    expect(content).toMatchObject([{ text: expect.stringContaining('alice@example.com') }]);
  });

  test.each([
    [['Ada', 'ada@example.com', 'yes'], '"action":"accept"'],
    [['cancel'], '"action":"cancel"'],
    [['', ''], '"action":"decline"'],
    [['Ada', '', 'no'], '"action":"decline"'],
  ])('the interactive example, answered %j', async (typed, expected) => {
    const { mcp: url } = await startWeather();
    log();
    const input = new PassThrough();
    const readline = createInterface({ input, output: new PassThrough() });
    afterTest(() => readline.close());
    const lines = [...typed];
    function askQuestion(question: string): Promise<string> {
      return new Promise((resolve) => {
        readline.question(question, (answer) => resolve(answer.trim()));
        input.write(`${lines.shift() ?? ''}\n`);
      });
    }
    const mcpClient = closed(new MCPClient({ servers: { interactiveServer: { url: new URL(url) } } }));

    await mcpClient.elicitation.onRequest('interactiveServer', async (request) => {
      const schema = request.requestedSchema;
      const properties = schema.properties || {};
      const required = schema.required || [];
      // oxlint-disable-next-line typescript/no-explicit-any -- as in the sample
      const content: Record<string, any> = {};
      for (const [fieldName, fieldSchema] of Object.entries(properties)) {
        // oxlint-disable-next-line typescript/no-explicit-any -- as in the sample
        const field = fieldSchema as any;
        const isRequired = required.includes(fieldName);
        let prompt = `${field.title || fieldName}`;
        if (field.description) prompt += ` (${field.description})`;
        if (isRequired) prompt += ' *required*';
        prompt += ': ';
        const answer = await askQuestion(prompt);
        if (answer.toLowerCase() === 'cancel') return { action: 'cancel' };
        if (answer === '' && isRequired) {
          console.log(`${fieldName} is required`);
          return { action: 'decline' };
        }
        if (answer !== '') content[fieldName] = answer;
      }
      console.log(JSON.stringify(content, null, 2));
      const confirm = await askQuestion('\nSubmit this information? (yes/no/cancel): ');
      if (confirm.toLowerCase() === 'yes' || confirm.toLowerCase() === 'y') {
        return { action: 'accept', content };
      } else if (confirm.toLowerCase() === 'cancel') {
        return { action: 'cancel' };
      }
      return { action: 'decline' };
    });
    const { content } = await mcpClient.callTool({ serverName: 'interactiveServer', name: 'register' });
    expect(content).toMatchObject([{ text: expect.stringContaining(expected) }]);
  });
});

test('static tools: one connection for the application, two transports, resources and prompts', async () => {
  const { sse } = await startWeather();
  const messages: string[] = [];
  const mcp = closed(
    new MCPClient({
      servers: {
        stockPrice: {
          ...commandFor('stdio-server.ts'),
          env: { API_KEY: 'your-api-key' },
          log: (logMessage) => {
            messages.push(`[${logMessage.level}] ${logMessage.message}`);
          },
        },
        weather: { url: new URL(sse) },
      },
      timeout: 30000, // Global 30s timeout
    }),
  );
  const agent = new Agent({
    id: 'multi-tool-agent',
    name: 'Multi-tool Agent',
    instructions: 'You have access to multiple tool servers.',
    model: toolReadingModel(),
    tools: await mcp.listTools(),
  });
  const { text } = await agent.generate('What can you do?');
  expect(text.split(' ')).toEqual(expect.arrayContaining(['stockPrice_echo', 'weather_current']));
  expect(mcp.status()['weather']?.transport).toBe('sse');

  const weatherResources = await mcp.resources.list();
  const [first] = weatherResources['weather'] ?? [];
  const weatherData = await mcp.resources.read('weather', first?.uri ?? '');
  expect(weatherData.contents[0]?.text).toBe('sunny');
  const weatherPrompts = await mcp.prompts.list();
  expect(weatherPrompts['weather']?.find((p) => p.name === 'current')).toBeDefined();
});

test.each(['listToolsets', 'getToolsets'] as const)('dynamic toolsets: %s() of one user for one call', async (list) => {
  const { sse } = await startWeather('user-123-token');
  const agent = new Agent({
    id: 'multi-tool-agent',
    name: 'Multi-tool Agent',
    instructions: 'You help users check stocks and weather.',
    model: toolReadingModel(),
  });
  const mcp = closed(
    new MCPClient({
      servers: {
        stockPrice: { ...commandFor('stdio-server.ts'), env: { API_KEY: 'user-123-api-key' }, timeout: 20000 },
        weather: { url: new URL(sse), requestInit: { headers: { Authorization: `Bearer user-123-token` } } },
      },
    }),
  );
  const response = await agent.stream('How is AAPL doing and what is the weather?', { toolsets: await mcp[list]() });
  expect((await response.text).split(' ')).toEqual(expect.arrayContaining(['echo', 'current']));
});

test('getTools(), the older name', async () => {
  const { mcp: url } = await startWeather();
  const mcp = closed(new MCPClient({ servers: { weather: { url: new URL(url) } } }));
  expect(Object.keys(await mcp.getTools())).toEqual(Object.keys(await mcp.listTools()));
});

test('instances: the same configuration twice needs an id, or the end of the first', async () => {
  const { mcp: url } = await startWeather();
  const servers = { it: { url: new URL(url) } };
  const mcp1 = closed(new MCPClient({ servers }));
  expect(() => new MCPClient({ servers })).toThrow(expect.objectContaining({ code: 'MCP_CLIENT_DUPLICATE' }));
  const mcp3 = closed(new MCPClient({ id: 'instance-1', servers }));
  expect(Object.keys(await mcp3.listTools())).not.toHaveLength(0);
  await mcp1.disconnect();
  const mcp4 = closed(new MCPClient({ servers }));
  expect(Object.keys(await mcp4.listTools())).not.toHaveLength(0);
});

describe('a custom fetch', () => {
  test.each(['mcp', 'sse'] as const)('adds a fresh token to every request, over %s', async (way) => {
    const { [way]: url } = await startWeather('fresh');
    const getAuthToken = async (): Promise<string> => 'fresh';
    const mcpClient = closed(
      new MCPClient({
        servers: {
          apiServer: {
            url: new URL(url),
            fetch: async (input, init) => {
              const token = await getAuthToken();
              return fetch(input, { ...init, headers: { ...init?.headers, Authorization: `Bearer ${token}` } });
            },
          },
        },
      }),
    );
    const tools = await mcpClient.listTools();
    expect(await tools['apiServer_current']?.execute({})).toMatchObject({ content: [{ text: 'sunny' }] });
  });

  test('SSE with headers: requestInit and eventSourceInit, or a fetch for both', async () => {
    const { sse } = await startWeather('your-token');
    const sseClient = closed(
      new MCPClient({
        servers: {
          exampleServer: {
            url: new URL(sse),
            requestInit: { headers: { Authorization: 'Bearer your-token' } },
            eventSourceInit: {
              fetch(input: Request | URL | string, init?: RequestInit) {
                const headers = new Headers(init?.headers || {});
                headers.set('Authorization', 'Bearer your-token');
                return fetch(input, { ...init, headers });
              },
            },
          },
        },
      }),
    );
    expect(Object.keys(await sseClient.listTools())).toContain('exampleServer_current');
    const sseClientWithFetch = closed(
      new MCPClient({
        servers: {
          exampleServer: {
            url: new URL(sse),
            fetch: async (url, init) => {
              const headers = new Headers(init?.headers || {});
              headers.set('Authorization', 'Bearer your-token');
              return fetch(url, { ...init, headers });
            },
          },
        },
      }),
    );
    expect(Object.keys(await sseClientWithFetch.listTools())).toContain('exampleServer_current');
  });
});

describe('MastraMCPClient', () => {
  test('gives an agent the tools of a program', async () => {
    const logged: string[] = [];
    const fetchClient = closed(
      new MastraMCPClient({
        name: 'fetch',
        server: {
          ...commandFor('stdio-server.ts'),
          logger: (logMessage) => {
            logged.push(`[${logMessage.level}] ${logMessage.message}`);
          },
        },
      }),
    );
    const agent = new Agent({
      name: 'Fetch agent',
      instructions: 'You are able to fetch data from URLs on demand.',
      model: toolReadingModel(),
    });
    await fetchClient.connect();
    const tools = await fetchClient.tools();
    const response = await agent.generate('Tell me about the docs.', { toolsets: { fetch: tools } });
    expect(response.text.split(' ')).toContain('echo');
    await fetchClient.disconnect();
  });

  test('speaks HTTP+SSE with headers and without server logs', async () => {
    const { sse } = await startWeather('your-token');
    const sseClient = closed(
      new MastraMCPClient({
        name: 'sse-client',
        server: {
          url: new URL(sse),
          requestInit: { headers: { Authorization: 'Bearer your-token' } },
          eventSourceInit: {
            fetch(input: Request | URL | string, init?: RequestInit) {
              const headers = new Headers(init?.headers || {});
              headers.set('Authorization', 'Bearer your-token');
              return fetch(input, { ...init, headers });
            },
          },
          logger: (logMessage) => {
            console.log(`[${logMessage.level}] ${logMessage.serverName}: ${logMessage.message}`);
          },
          enableServerLogs: false,
        },
      }),
    );
    await sseClient.connect();
    expect(Object.keys(await sseClient.tools())).toContain('current');
    expect((await sseClient.resources()).resources).toMatchObject([{ uri: 'weather://current' }]);
  });
});
