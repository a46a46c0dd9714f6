import { Agent } from '@quiver/core/agent';
import { RequestContext } from '@quiver/core/request-context';
import { generateText as generateText5 } from 'ai-v5';
import { generateText as generateText6 } from 'ai-v6';
import { generateText as generateText7 } from 'ai-v7';
import { describe, expectTypeOf, it } from 'vitest';
import { MCPClient, type ElicitResult, type LogMessage, type Prompt, type Resource } from './index.js';

declare const mcp: MCPClient;

describe('types of the client', () => {
  it('offers tools that every major of the AI SDK takes', async () => {
    const tools = await mcp.listTools();
    void ((model: never) => generateText5({ model, tools, prompt: '' }));
    void ((model: never) => generateText6({ model, tools, prompt: '' }));
    void ((model: never) => generateText7({ model, tools, prompt: '' }));
    void new Agent({ name: 'a', instructions: '', model: 'openai/gpt-5.1', tools });
  });

  it('knows the arguments of callbacks in a definition', () => {
    void new MCPClient({
      servers: {
        stock: {
          command: 'npx',
          args: ['tsx'],
          env: { A: 'b' },
          log: (message) => expectTypeOf(message).toEqualTypeOf<LogMessage>(),
        },
        api: {
          url: new URL('http://localhost:8080/sse'),
          fetch: async (url, init) => fetch(url, { ...init, headers: { ...init?.headers, Authorization: 'x' } }),
          requestInit: { headers: { Authorization: 'x' } },
          eventSourceInit: {
            fetch(input: Request | URL | string, init?: RequestInit) {
              return fetch(input, { ...init, headers: new Headers(init?.headers) });
            },
          },
        },
      },
      timeout: 30_000,
    });
  });

  it('binds the same methods to one caller', async () => {
    const requestContext = new RequestContext<{ user: string }>();
    const view = mcp.forRequest(requestContext);
    expectTypeOf(view.listTools).toEqualTypeOf(mcp.listTools);
    expectTypeOf(view.callTool).toEqualTypeOf(mcp.callTool);
    expectTypeOf(view.resources).toEqualTypeOf(mcp.resources);
    expectTypeOf(await view.listTools()).toEqualTypeOf(await mcp.listTools({ requestContext }));
    // @ts-expect-error a view has no connection to end
    void view.disconnect;
    // @ts-expect-error the request context is the point of a view
    void mcp.forRequest();
    void mcp.forRequest(requestContext, {
      onElicitation: async ({ requestedSchema, serverName }, { signal }) => {
        expectTypeOf(requestedSchema.required).toEqualTypeOf<string[] | undefined>();
        expectTypeOf(serverName).toEqualTypeOf<string>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return { action: 'decline' };
      },
      onProgress: ({ message }) => expectTypeOf(message).toEqualTypeOf<string | undefined>(),
    });
    // @ts-expect-error a handler of a person returns what the person did
    void mcp.callTool({ serverName: 's', name: 't', onElicitation: async () => 'yes' });
    void new MCPClient({ servers: {}, identity: (context) => context.get('user') });
    // @ts-expect-error a key is a text
    void new MCPClient({ servers: {}, identity: () => 1 });
  });

  it('types resources, prompts and elicitation as the samples use them', async () => {
    expectTypeOf(await mcp.resources.list()).toEqualTypeOf<Record<string, Resource[]>>();
    const content = await mcp.resources.read('s', 'weather://current');
    expectTypeOf(content.contents[0]?.text).toEqualTypeOf<string | undefined>();
    const { prompt } = await mcp.prompts.get({ serverName: 's', name: 'current', args: { location: 'London' } });
    expectTypeOf(prompt).toEqualTypeOf<Prompt>();
    await mcp.elicitation.onRequest('s', async (request): Promise<ElicitResult> => {
      const { properties, required = [] } = request.requestedSchema;
      expectTypeOf(required).toEqualTypeOf<string[]>();
      if (properties['name']) return { action: 'accept', content: { name: 'Alice' } };
      return { action: 'decline' };
    });
    await mcp.progress.onUpdate('s', (params) => {
      expectTypeOf(params.progressToken).toEqualTypeOf<string>();
      expectTypeOf(params.total).toEqualTypeOf<number | undefined>();
    });
    expectTypeOf(mcp.callTool({ serverName: 's', name: 't' })).resolves.toHaveProperty('content');
  });

  it('types the tools of one server by an interface', () => {
    interface Weather {
      forecast: { input: { city: string }; output: { celsius: number } };
      'list-cities': { input: { [key: string]: unknown }; output: unknown };
      then: { input: { [key: string]: unknown }; output: unknown };
    }
    const weather = mcp.server<Weather>('weather');
    expectTypeOf(weather.forecast({ city: 'Oslo' }, { timeout: 5 })).resolves.toEqualTypeOf<{ celsius: number }>();
    expectTypeOf(weather['list-cities']()).resolves.toEqualTypeOf<unknown>();
    // @ts-expect-error the input is required
    void (() => weather.forecast());
    // @ts-expect-error the input has another type
    void (() => weather.forecast({ city: 1 }));
    // @ts-expect-error a promise would call it
    void weather.then;
    // @ts-expect-error `args` are the input
    void (() => weather.forecast({ city: 'Oslo' }, { args: {} }));
  });
});
