import { afterAll, expect, test } from 'vitest';
import { openSession, rpc, send } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';

const server = new MCPServer({
  name: 'Notes',
  version: '1.0.0',
  tools: {},
  resources: {
    listResources: async () => [
      { uri: 'note://today/raw', name: 'Today', mimeType: 'text/plain' },
      { uri: 'note://index', name: 'Index' },
    ],
    resourceTemplates: async () => [{ uriTemplate: 'note://{day}/raw', name: 'Any day', mimeType: 'text/html' }],
    getResourceContent: async ({ variables }) => ({ text: JSON.stringify(variables) }),
  },
});
afterAll(() => server.close());

async function read(uri: string): Promise<unknown> {
  const { url } = await server.listen();
  return (await send(url, { headers: await openSession(url), body: rpc('resources/read', { uri }) })).json;
}

test.each([
  ['a listed resource that a template matches', 'note://today/raw', 'text/plain', { day: 'today' }],
  ['a listed resource that no template matches', 'note://index', undefined, {}],
  ['a resource that only a template matches', 'note://monday/raw', 'text/html', { day: 'monday' }],
])('fills the variables of %s', async (_name, uri, mimeType, variables) => {
  const contents = [{ uri, ...(mimeType && { mimeType }), text: JSON.stringify(variables) }];
  expect(await read(uri)).toMatchObject({ result: { contents } });
});

test('rejects a URI whose variable would become a parent folder after further decoding', async () => {
  for (const day of ['..', '%2e%2e', '%252e%252e', '%25252E%25252e', 'a%252f..%252fb', '%255c%252e%252e'])
    expect(await read(`note://${day}/raw`)).toMatchObject({ error: { code: -32602 } });
  expect(await read('note://100%2525/raw')).toMatchObject({ result: { contents: [{ text: '{"day":"100%25"}' }] } });
});
