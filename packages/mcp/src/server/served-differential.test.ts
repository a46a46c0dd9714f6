import { completable, createMcpHandler, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { initializeParams, modern, rpc, toRequest } from '../../test/clients/wire.ts';
import { MCPServer } from './mcp-server.js';

/**
 * Serves the same resources and prompts through our dispatch and through the official SDK's handlers, and compares the responses.
 * Deliberate differences are named below (and the SDK leaves `total` out of completions without values). Another difference means that
 * the SDK, or the protocol, has changed.
 */

const languages = ['typescript', 'rust'];
const suggest = (value: string): string[] =>
  value === 'many' ? Array.from({ length: 250 }, String) : languages.filter((language) => language.startsWith(value));

const ours = new MCPServer({
  name: 'twin',
  version: '1.0.0',
  tools: {},
  resources: {
    listResources: () => [
      { name: 'text', uri: 'note://text', title: 'Text', mimeType: 'text/plain' },
      { name: 'bytes', uri: 'note://bytes', mimeType: 'image/png' },
      { name: 'broken', uri: 'note://broken' },
      { name: 'folder', uri: 'note://folder' },
    ],
    resourceTemplates: () => [{ name: 'user', uriTemplate: 'user://{id}/data', mimeType: 'application/json' }],
    getResourceContent: ({ uri, variables }) => {
      if (uri === 'note://broken') throw new Error('the disk is full');
      if (uri === 'note://text') return { text: 'text' };
      if (uri === 'note://folder') return [{ uri: 'note://folder/a', text: 'a' }, { blob: 'AAE=' }];
      const bytes = new Uint8Array([0, 255, 1]);
      return uri === 'note://bytes' ? { blob: bytes } : { text: JSON.stringify({ id: variables['id'] }) };
    },
    completeVariable: ({ value }) => suggest(value),
  },
  prompts: {
    listPrompts: () => [
      { name: 'plain', description: 'Plain' },
      {
        name: 'review',
        description: 'Reviews code',
        arguments: [
          { name: 'language', required: true },
          { name: 'style', required: false },
        ],
      },
    ],
    getPromptMessages: ({ name, args }) => [
      { role: 'user', content: { type: 'text', text: `${name} ${args.language ?? ''}` } },
    ],
    completeArgument: ({ argument, value }) => (argument === 'language' ? suggest(value) : []),
  },
});
afterAll(() => ours.close({ grace: 100 }));

function createTwin(): McpServer {
  const twin = new McpServer({ name: 'twin', version: '1.0.0' }, { capabilities: { logging: {} } });
  twin.registerResource('text', 'note://text', { title: 'Text', mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'text' }],
  }));
  twin.registerResource('bytes', 'note://bytes', { mimeType: 'image/png' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'image/png', blob: 'AP8B' }],
  }));
  twin.registerResource('broken', 'note://broken', {}, async () => Promise.reject(new Error('the disk is full')));
  twin.registerResource('folder', 'note://folder', {}, async (uri) => ({
    contents: [
      { uri: 'note://folder/a', text: 'a' },
      { uri: uri.href, blob: 'AAE=' },
    ],
  }));
  const template = new ResourceTemplate('user://{id}/data', { list: undefined, complete: { id: suggest } });
  twin.registerResource('user', template, { mimeType: 'application/json' }, async (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id }) }],
  }));
  const message = (text: string) => ({
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  });
  twin.registerPrompt('plain', { description: 'Plain' }, async () => ({ description: 'Plain', ...message('plain ') }));
  const argsSchema = z.object({ language: completable(z.string(), suggest), style: z.string().optional() });
  twin.registerPrompt('review', { description: 'Reviews code', argsSchema }, async ({ language }) => ({
    description: 'Reviews code',
    ...message(`review ${language}`),
  }));
  return twin;
}

const twins = createMcpHandler(() => createTwin());

async function answersTo(body: object, headers: object = {}): Promise<[ours: unknown, theirs: unknown]> {
  const request = (): Request => toRequest({ headers, body });
  const responses = await Promise.all([ours.fetch(request(), { serverless: true }), twins.fetch(request())]);
  const [mine, theirs] = await Promise.all(responses.map(read));
  return [mine, theirs];
}

/** Errors are compared by code and data: texts are for people. */
async function read(response: Response): Promise<unknown> {
  const text = await response.text();
  const data = /^data: (\{.+)$/m.exec(text)?.[1] ?? text;
  const { error, ...rest } = JSON.parse(data) as { error?: { code: number; data?: unknown }; result?: object };
  return {
    status: response.status,
    ...rest,
    ...(error && { error: { code: error.code, ...(error.data !== undefined && { data: error.data }) } }),
  };
}

const argument = (name: string, value: string): object => ({ name, value });
const review = { type: 'ref/prompt', name: 'review' };

const requests: [method: string, params: Record<string, unknown>][] = [
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'note://text' }],
  ['resources/read', { uri: 'note://bytes' }],
  ['resources/read', { uri: 'note://folder' }],
  ['resources/read', { uri: 'user://7/data' }],
  ['resources/read', { uri: 'user://7/8/data' }],
  ['resources/read', { uri: 'note://nothing' }],
  ['resources/read', { uri: 'note://broken' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'plain' }],
  ['prompts/get', { name: 'review', arguments: { language: 'rust' } }],
  ['prompts/get', { name: 'review', arguments: {} }],
  ['prompts/get', { name: 'nothing' }],
  ['completion/complete', { ref: review, argument: argument('language', 'ty') }],
  ['completion/complete', { ref: review, argument: argument('language', '') }],
  ['completion/complete', { ref: review, argument: argument('language', 'many') }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'user://{id}/data' }, argument: argument('id', 'ru') }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'note://text' }, argument: argument('id', 'ru') }],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'note://nothing' }, argument: argument('id', 'ru') }],
];

describe('our answers are those of the official SDK', () => {
  test.each(requests)('in the stateless revision: %s %j', async (method, params) => {
    const { headers, body } = modern(method, params);
    const [mine, theirs] = await answersTo(body, headers);
    // The SDK allows no caching of lists by default.
    if (method.endsWith('/list')) Object.assign((theirs as { result: object }).result, { ttlMs: 5000 });
    expect(mine).toEqual(theirs);
  });

  test.each(requests)('before it: %s %j', async (method, params) => {
    const [mine, theirs] = await answersTo(rpc(method, params), { 'mcp-protocol-version': '2025-11-25' });
    expect(mine).toEqual(theirs);
  });

  test('to initialize, except for capabilities that the SDK does not have', async () => {
    const [mine, theirs] = await answersTo(rpc('initialize', initializeParams));
    const capabilities = { resources: { subscribe: false, listChanged: true }, tools: { listChanged: true } };
    const { result } = theirs as { result: { capabilities: object } };
    expect(mine).toEqual({
      ...(theirs as object),
      result: { ...result, capabilities: { ...result.capabilities, ...capabilities } },
    });
  });
});
