import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../../test/servers/tool-of.ts';
import { callServer } from '../../../test/clients/fetch-caller.ts';
import { MCPServer } from '../mcp-server.js';
import { audit, type AuditEntry } from '../../../test/servers/audit.ts';

const errors: string[] = [];
let running = 0;
const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) };
const tools = {
  echo: toolOf('echo', { inputSchema: z.object({ password: z.string() }) }, async ({ password }) => password),
  fail: toolOf('fail', async () => Promise.reject(new Error('disk full'))),
  ask: toolOf('ask', async (_input, { mcp }) =>
    mcp.elicitation.sendRequest({ message: 'Name?', requestedSchema: { type: 'object', properties: {} } }),
  ),
  endless: toolOf('endless', () => {
    running += 1;
    return new Promise<never>(() => {});
  }),
};

function createServer(write: (entry: AuditEntry) => unknown): MCPServer {
  return new MCPServer({ name: 'n', version: '1', tools, logger }).use(audit(write));
}

describe.each(['legacy', 'modern'] as const)('work of a hook in the %s era', (era) => {
  test('records the outcome of each request', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer((entry) => entries.push(entry)).use({
      onRequest: ({ method }, next) => (method === 'tools/list' ? Promise.reject(new Error('expired')) : next()),
    });
    await callServer(server, era, 'tools/call', { name: 'echo', arguments: { password: 'hunter2' } });
    await callServer(server, era, 'tools/call', { name: 'fail' });
    await callServer(server, era, 'tools/call', { name: 'none' });
    await callServer(server, era, 'tools/list');
    await callServer(server, era, 'ping');
    await expect.poll(() => entries.length).toBe(4);
    expect(entries).toEqual([
      { method: 'tools/call', name: 'echo', outcome: 'complete', size: 46 },
      { method: 'tools/call', name: 'fail', outcome: 'error', size: expect.any(Number) },
      { method: 'tools/call', name: 'none', outcome: 'failed', code: -32602 },
      { method: 'tools/list', name: undefined, outcome: 'failed', code: -32603 },
    ]);
  });

  test.each([
    ['throws', () => JSON.parse('{')],
    ['rejects', () => Promise.reject(new Error('the disk is full'))],
  ])('is logged when it %s, and the request is answered', async (_name, write) => {
    errors.length = 0;
    const { result } = await callServer(createServer(write), era, 'tools/list');
    expect(result.tools).toHaveLength(4);
    await expect.poll(() => errors).toEqual([expect.stringContaining('Work of a middleware failed')]);
  });
});

describe('work of a hook', () => {
  test('tells input rounds and canceled requests from others', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer((entry) => entries.push(entry));
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    await callServer(server, 'modern', 'tools/call', { name: 'ask', _meta });
    const controller = new AbortController();
    const canceled = callServer(server, 'modern', 'tools/call', { name: 'endless' }, { signal: controller.signal });
    await expect.poll(() => running).toBe(1);
    controller.abort();
    await canceled.catch(() => {});
    await expect.poll(() => entries.map(({ outcome }) => outcome)).toEqual(['input_required', 'canceled']);
  });

  test('knows whether the client has received a request', async () => {
    const sent: boolean[] = [];
    const server = createServer(() => {}).use({
      async onRequest(context, next) {
        const outcome = await next();
        sent.push(context.sentRequest);
        return outcome;
      },
    });
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    await callServer(server, 'modern', 'tools/call', { name: 'ask', _meta });
    await callServer(server, 'modern', 'tools/list');
    expect(sent).toEqual([true, false]);
  });

  test('is done before the server is closed', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer(async (entry) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      entries.push(entry);
    });
    await callServer(server, 'legacy', 'tools/list');
    await callServer(server, 'modern', 'tools/list');
    await server.close({ grace: 60_000 });
    expect(entries).toHaveLength(2);
  });

  test('does not keep the server open when it hangs', async () => {
    const server = createServer(() => new Promise(() => {}));
    await callServer(server, 'modern', 'tools/list');
    await expect(server.close({ grace: 20 })).resolves.toBeUndefined();
  });
});
