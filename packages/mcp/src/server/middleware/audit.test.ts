import { createTool } from '@quiver/core/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callServer } from '../../../test/clients/fetch-caller.ts';
import { MCPServer } from '../mcp-server.js';
import { audit, type AuditEntry, type AuditOptions } from './audit.js';

const errors: string[] = [];
let running = 0;
const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) };
const tools = {
  echo: createTool({
    id: 'echo',
    description: 'd',
    inputSchema: z.object({ password: z.string() }),
    execute: async ({ password }) => password,
  }),
  fail: createTool({ id: 'fail', description: 'd', execute: async () => Promise.reject(new Error('disk full')) }),
  ask: createTool({
    id: 'ask',
    description: 'd',
    execute: async (_input, { mcp }) =>
      mcp.elicitation.sendRequest({ message: 'Name?', requestedSchema: { type: 'object', properties: {} } }),
  }),
  endless: createTool({
    id: 'endless',
    description: 'd',
    execute: () => {
      running += 1;
      return new Promise<never>(() => {});
    },
  }),
};

function createServer(write: (entry: AuditEntry) => unknown, options?: AuditOptions): MCPServer {
  return new MCPServer({ name: 'n', version: '1', tools, logger }).use(audit(write, options));
}

describe.each(['legacy', 'modern'] as const)('audit in the %s era', (era) => {
  test('writes one entry per request, without content', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer((entry) => entries.push(entry));
    const authInfo = { token: 'secret-token', extra: { sub: 'ada' } };
    await callServer(server, era, 'tools/call', { name: 'echo', arguments: { password: 'hunter2' } }, { authInfo });
    await callServer(server, era, 'tools/call', { name: 'fail' }, { authInfo });
    await callServer(server, era, 'tools/call', { name: 'x'.repeat(300) }, { authInfo });
    await callServer(server, era, 'tools/list');
    await callServer(server, era, 'ping');
    await expect.poll(() => entries.length).toBe(4);
    const [first] = entries;
    expect(first).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      method: 'tools/call',
      name: 'echo',
      principal: 'ada',
      era,
      outcome: 'ok',
      durationMs: expect.any(Number),
      size: 46,
    });
    expect(entries.map(({ outcome, errorCode }) => [outcome, errorCode])).toEqual([
      ['ok', undefined],
      ['error', undefined],
      ['error', -32602],
      ['ok', undefined],
    ]);
    expect(entries[2]?.name).toHaveLength(200);
    expect(entries[3]).not.toHaveProperty('principal');
    expect(JSON.stringify(entries)).not.toMatch(/secret-token|hunter2|disk full/);
  });

  test('has the code of what a later hook throws', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer((entry) => entries.push(entry)).use({
      onRequest: async () => Promise.reject(new Error('license expired')),
    });
    await callServer(server, era, 'tools/list');
    await expect.poll(() => entries).toMatchObject([{ outcome: 'error', errorCode: -32603 }]);
  });

  test('writes a digest where the token is the identity', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer((entry) => entries.push(entry));
    await callServer(server, era, 'tools/list', {}, { authInfo: { token: 'secret-token' } });
    await expect.poll(() => entries.length).toBe(1);
    expect(entries[0]?.principal).toMatch(/^token:[\w+/]{22}==$/);
  });

  test('writes content where it is turned on', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer((entry) => entries.push(entry), { content: true });
    await callServer(server, era, 'tools/call', { name: 'echo', arguments: { password: 'hunter2' } });
    await callServer(server, era, 'tools/call', { name: 'none' });
    await expect.poll(() => entries.length).toBe(2);
    expect(entries).toMatchObject([
      { arguments: { password: 'hunter2' }, result: { content: [{ text: 'hunter2' }] } },
      { outcome: 'error', error: 'Unknown tool: none' },
    ]);
  });

  test('cuts and escapes methods and names, which clients choose', async () => {
    const entries: AuditEntry[] = [];
    const server = createServer((entry) => entries.push(entry));
    await callServer(server, era, 'x'.repeat(100_000));
    await callServer(
      server,
      era,
      'tools/call',
      { name: 'a\u001B[31m\u009B', title: 'forged' },
      { headers: { 'mcp-name': '=?base64?YRtbMzFtwps=?=' } },
    );
    await expect.poll(() => entries.length).toBe(2);
    expect(entries[0]?.method).toHaveLength(200);
    expect(entries[1]?.name).toBe('a\\u001b[31m\\u009b');
  });

  test.each([
    ['throws', () => JSON.parse('{')],
    ['rejects', () => Promise.reject(new Error('the disk is full'))],
  ])('answers although the writer %s', async (_name, write) => {
    errors.length = 0;
    const { result } = await callServer(createServer(write), era, 'tools/list');
    expect(result.tools).toHaveLength(4);
    await expect.poll(() => errors).toEqual([expect.stringContaining('An audit entry was not written')]);
  });
});

describe('audit', () => {
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

  test('writes every entry before its server is closed', async () => {
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

  test('ends its server without an entry whose writer hangs', async () => {
    const server = createServer(() => new Promise(() => {}));
    await callServer(server, 'modern', 'tools/list');
    await expect(server.close({ grace: 20 })).resolves.toBeUndefined();
  });

  test('rejects a writer that is not a function', () => {
    expect(() => audit('audit.log' as never)).toThrow(expect.objectContaining({ code: 'MIDDLEWARE_INVALID' }));
  });
});
