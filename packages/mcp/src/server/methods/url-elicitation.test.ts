import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { initializeParams, modern, rpc, send, type WireAnswer } from '../../../test/clients/wire.ts';
import { MCPServer } from '../mcp-server.js';
import { urlElicitationRequired } from './url-elicitation.js';

let signedIn = false;
let url = 'https://acme.example/sign-in';
const files = toolOf('files', async () => {
  if (signedIn) return 'a.txt';
  throw urlElicitationRequired('Sign in to Acme first.', [{ message: 'Sign in', url, elicitationId: 'one' }]);
});
const server = new MCPServer({ name: 'Pages', version: '1.0.0', tools: { files } });
const running = await server.listen();
afterAll(() => server.close());
beforeEach(() => {
  signedIn = false;
  url = 'https://acme.example/sign-in';
});

const page = { mode: 'url', message: 'Sign in', url: 'https://acme.example/sign-in' };
const failed = { isError: true, content: [{ type: 'text', text: 'Error: Sign in to Acme first.' }] };

async function callIn(protocolVersion: string, capabilities: object): Promise<WireAnswer> {
  const opened = await send(running.url, {
    body: rpc('initialize', { ...initializeParams, protocolVersion, capabilities }),
  });
  const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
  return send(running.url, { headers, body: rpc('tools/call', { name: 'files', arguments: {} }) });
}

describe('a tool that needs the user to visit a page first', () => {
  test('is answered with error -32042 and the pages in 2025-11-25', async () => {
    const { json } = await callIn('2025-11-25', { elicitation: { url: {} } });
    expect(json.error).toEqual({
      code: -32042,
      message: 'Sign in to Acme first.',
      data: { elicitations: [{ ...page, elicitationId: 'one' }] },
    });
  });

  test("is the official client's own kind of error", async () => {
    const client = new Client({ name: 'official', version: '1' }, { capabilities: { elicitation: { url: {} } } });
    // The SDK's types are not made for exactOptionalPropertyTypes.
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url)) as never);
    const error: unknown = await client.callTool({ name: 'files' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UrlElicitationRequiredError);
    expect((error as UrlElicitationRequiredError).elicitations).toEqual([{ ...page, elicitationId: 'one' }]);
    signedIn = true;
    expect(await client.callTool({ name: 'files' })).toEqual({ content: [{ type: 'text', text: 'a.txt' }] });
    await client.close();
  });

  test.each([
    ['2025-06-18', { elicitation: { url: {} } }],
    ['2025-11-25', {}],
    ['2025-11-25', { elicitation: {} }],
  ])('is an error result in %s for a client with %j', async (version, capabilities) => {
    expect((await callIn(version, capabilities)).json.result).toEqual(failed);
  });

  test('sends an elicitation request in the modern era, and runs again with the result', async () => {
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } };
    const call = (more: object = {}): Promise<WireAnswer> =>
      send(running.url, modern('tools/call', { name: 'files', arguments: {}, _meta: meta, ...more }));
    const visit = async (): Promise<object> => {
      const { requestState, inputRequests } = (await call()).json.result;
      expect(inputRequests).toEqual({ 'page-1': { method: 'elicitation/create', params: page } });
      return { requestState: requestState as string, inputResponses: { 'page-1': { action: 'accept' } } };
    };
    expect((await call(await visit())).json.result).toMatchObject(failed);
    const visited = await visit();
    signedIn = true;
    expect((await call(visited)).json.result.content[0].text).toBe('a.txt');
  });

  test('is refused an address that is not safe', async () => {
    url = 'http://acme.example';
    const { json } = await callIn('2025-11-25', { elicitation: { url: {} } });
    expect(json.result.isError).toBe(true);
    expect(json.result.content[0].text).toContain('must be https');
  });
});
