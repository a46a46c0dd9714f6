import { afterAll, expect, test } from 'vitest';
import { clientOf } from '../../../test/clients/client-of.ts';
import { modern, openSession, rpc, send } from '../../../test/clients/wire.ts';
import type { Prompt, PromptMessage } from '../../prompt.js';
import { MCPServer } from '../mcp-server.js';

const prompt = {
  name: 'review',
  version: 'v2',
  description: 'Reviews code',
  mimeType: 'text/markdown',
  _meta: { 'acme/team': 'core' },
};
const server = new MCPServer({
  name: 'Prompts',
  version: '1.0.0',
  tools: {},
  prompts: {
    listPrompts: async () => [prompt],
    getPromptMessages: async () => ({ prompt, messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] }),
  },
});
afterAll(() => server.close());

const _meta = { 'acme/team': 'core', 'quiver/version': 'v2', 'quiver/mimeType': 'text/markdown' };

test('sends version and media type of a prompt in _meta, in both eras', async () => {
  const { url } = await server.listen();
  const headers = await openSession(url);
  const params = { name: 'review' };
  for (const [list, get] of [
    [
      { headers, body: rpc('prompts/list') },
      { headers, body: rpc('prompts/get', params) },
    ],
    [modern('prompts/list'), modern('prompts/get', params)],
  ] as const) {
    expect((await send(url, list)).json.result.prompts).toMatchObject([{ name: 'review', _meta }]);
    expect((await send(url, get)).json.result).toMatchObject({ description: 'Reviews code', _meta });
  }
  const unknown = rpc('prompts/get', { ...params, _meta: { 'quiver/version': 'v9' } });
  expect((await send(url, { headers, body: unknown })).json.error).toMatchObject({
    code: -32602,
    message: 'Prompt not found: review has no version v9; it has v2',
  });
});

test('returns version and media type to MCPClient', async () => {
  const mcp = clientOf({ it: { server } });
  const listed = await mcp.prompts.list();
  expect(listed['it']).toMatchObject([{ version: 'v2', mimeType: 'text/markdown' }]);
  const { prompt: received } = await mcp.prompts.get({ serverName: 'it', name: 'review' });
  expect(received).toMatchObject({ name: 'review', version: 'v2', mimeType: 'text/markdown' });
});

test('calls the callbacks of a class with their instance', async () => {
  class Prompts {
    readonly #text = 'from the instance';
    async listPrompts(): Promise<Prompt[]> {
      return [{ name: 'review', description: this.#text }];
    }
    async getPromptMessages(): Promise<PromptMessage[]> {
      return [{ role: 'user', content: { type: 'text', text: this.#text } }];
    }
  }
  const ofClass = new MCPServer({ name: 'Prompts', version: '1.0.0', tools: {}, prompts: new Prompts() });
  const mcp = clientOf({ it: { server: ofClass } });
  expect(await mcp.prompts.get({ serverName: 'it', name: 'review' })).toMatchObject({
    messages: [{ content: { text: 'from the instance' } }],
  });
});
