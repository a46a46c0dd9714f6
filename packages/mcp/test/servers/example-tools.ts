import { createTool, type Tool } from '@quiver/core/tools';
import type { ToolsInput } from '@quiver/mcp/server';
import { z } from 'zod';

const addition = z.object({ sum: z.number() });

/** Tools with every kind of behavior that the tests need. */
export const exampleTools = {
  echo: createTool({
    id: 'echo-tool',
    description: 'Says it again',
    inputSchema: z.object({ message: z.string() }),
    execute: async ({ message }) => message,
  }),
  add: createTool({
    id: 'add',
    description: 'Adds two numbers',
    title: 'Addition',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: addition,
    mcp: { annotations: { readOnlyHint: true }, _meta: { source: 'test' } },
    execute: async ({ a, b }) => ({ sum: a + b }),
  }),
  fail: createTool({
    id: 'fail',
    description: 'Throws',
    execute: async () => {
      throw new Error('the disk is full');
    },
  }),
  whoami: createTool({
    id: 'whoami',
    description: 'Tells what it knows of the caller',
    execute: async (_input, { mcp, requestContext }) => ({
      authInfo: mcp.extra?.authInfo,
      sessionId: mcp.extra?.sessionId,
      requestId: mcp.extra?.requestId,
      sameInContext: requestContext.get('mcp.extra') === mcp.extra,
    }),
  }),
  requestDetails: createTool({
    id: 'requestDetails',
    description: 'Returns what it knows of the request',
    execute: async (_input, { mcp }) => {
      const { _meta, requestInfo, clientInfo } = mcp.extra ?? {};
      return { _meta, headers: requestInfo?.headers, clientInfo };
    },
  }),
  image: createTool({
    id: 'image',
    description: 'Returns an image',
    execute: async () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
  }),
  odd: createTool({
    id: 'odd',
    description: 'Returns values that JSON cannot carry',
    inputSchema: z.object({ kind: z.enum(['circular', 'bigint', 'undefined', 'date', 'map', 'nan', 'function']) }),
    execute: async ({ kind }): Promise<unknown> => {
      const circular: Record<string, unknown> = {};
      circular['self'] = circular;
      const values: Record<string, unknown> = {
        circular,
        bigint: { big: 1n },
        undefined,
        date: new Date(0),
        map: new Map([['a', 1]]),
        nan: Number.NaN,
        function: () => 1,
      };
      return values[kind];
    },
  }),
  wrongOutput: createTool({
    id: 'wrongOutput',
    description: 'Breaks its own promise',
    outputSchema: addition,
    execute: async () => ({ sum: 'three' }) as unknown as { sum: number },
  }),
  steps: createTool({
    id: 'steps',
    description: 'Reports progress and logs',
    execute: async (_input, { mcp }) => {
      await mcp.progress({ progress: 1, total: 2, message: 'half' });
      await mcp.log('info', 'working');
      await mcp.progress({ progress: 2, total: 2 });
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 'done';
    },
  }),
  contact: createTool({
    id: 'contact',
    description: 'Asks two questions',
    inputSchema: z.object({ greeting: z.string().default('Hello') }),
    execute: async ({ greeting }, { mcp }) => {
      runs.count += 1;
      try {
        const name = await mcp.elicitation.sendRequest({
          message: 'What is your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        });
        if (name.action !== 'accept') return `no name: ${name.action}`;
        const age = await mcp.elicitation.sendRequest(
          {
            message: 'How old are you?',
            requestedSchema: { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] },
          },
          { key: 'age' },
        );
        return `${greeting} ${name.content?.name}, ${age.content?.age}`;
      } catch (error) {
        return `could not ask: ${(error as { code?: string }).code}`;
      }
    },
  }),
  both: createTool({
    id: 'both',
    description: 'Asks two questions at once',
    execute: async (_input, { mcp }) => {
      const ask = (key: string): Promise<{ content?: Record<string, unknown> }> =>
        mcp.elicitation.sendRequest(
          {
            message: key,
            requestedSchema: { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] },
          },
          { key },
        );
      const [first, second] = await Promise.all([ask('first'), ask('second')]);
      return [first.content?.['first'], second.content?.['second']];
    },
  }),
  wait: createTool({
    id: 'wait',
    description: 'Waits until it is aborted or the time is over',
    inputSchema: z.object({ milliseconds: z.number() }),
    execute: ({ milliseconds }, { abortSignal }) =>
      new Promise<string>((resolve, reject) => {
        waiting.count += 1;
        const timer = setTimeout(() => resolve('waited'), milliseconds);
        abortSignal?.addEventListener('abort', () => {
          clearTimeout(timer);
          aborted.count += 1;
          reject(new Error('aborted'));
        });
      }),
  }),
} satisfies ToolsInput;

/** How often `contact` was run in this process. */
export const runs = { count: 0 };

/** How many calls of `wait` began in this process. */
export const waiting = { count: 0 };

/** How many calls of `wait` were aborted in this process. */
export const aborted = { count: 0 };

/** Asks the user for a name. */
export const ask: Tool = createTool({
  id: 'ask',
  description: 'Asks the user',
  execute: async (_input, { mcp }) => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
    const { content } = await mcp.elicitation.sendRequest({ message: 'Name?', requestedSchema });
    return `Hello ${String(content?.['name'])}`;
  },
});
