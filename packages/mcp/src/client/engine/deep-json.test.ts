import { isQuiverError } from '@quiver/core';
import { expect, test } from 'vitest';
import { atEnd, initialized, startScripted, type Reaction } from '../../../test/servers/scripted-server.ts';
import { MCPClient } from '../mcp-client.js';

const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

const outcomes: Record<string, string> = {
  'structured content': `"result":{"content":[],"structuredContent":{"a":${deep}}}`,
  _meta: `"result":{"content":[],"_meta":{"a":${deep}}}`,
  content: `"result":{"content":${deep}}`,
  'annotated content': `"result":{"content":[{"type":"text","text":"x","annotations":${deep}}]}`,
  'the data of an error': `"error":{"code":-32000,"message":"no","data":${deep}}`,
  'the result': `"result":${deep}`,
};

const names = Object.keys(outcomes);
const list: Reaction = (response, { id }) => {
  const schemas = `"inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"type":"array"}}}`;
  const tools = names.map((_, index) => `{"name":"t${index}",${schemas}}`).join(',');
  const tooDeep = `{"name":"deep","inputSchema":{"type":"object","properties":{"a":${deep}}}}`;
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[${tools},${tooDeep}]}}`);
};
const call: Reaction = (response, { id, params }) => {
  const outcome = outcomes[names[Number(String(params?.['name']).slice(1))] as string];
  response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},${outcome}}`);
};

test('JSON that is nested 200,000 levels deep ends in a result or a QuiverError', async () => {
  const { url } = await startScripted({
    initialize: (response, { id }) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result: initialized })),
    'tools/list': list,
    'tools/call': call,
  });
  const mcp = new MCPClient({ id: 'deep', servers: { it: { url, protocol: 'legacy', timeout: 20_000 } } });
  atEnd.push(() => mcp.disconnect());
  const tools = await mcp.listTools();
  for (const [index, name] of names.entries()) {
    for (const run of [
      () => mcp.callTool({ serverName: 'it', name: `t${index}` }),
      () => (tools[`it_t${index}`] as { execute: (input: object) => Promise<unknown> }).execute({}),
    ]) {
      const error: unknown = await run().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error === undefined || isQuiverError(error), `${name}: ${String(error)}`).toBe(true);
    }
  }
});
