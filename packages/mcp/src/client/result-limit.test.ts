import type { ResultLimit } from '@quiver/core/tools';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { MCPClient, type MCPClientOptions } from './mcp-client.js';
import { getToolResult } from './tools/tool-result.js';
import { callByModel } from '../../test/clients/call-by-model.ts';
import { clientOf } from '../../test/clients/client-of.ts';

const rows = Array.from({ length: 200 }, (_, id) => ({ id, text: `row ${id}` }));
const note = 'Call the tool with arguments that return less.';

/** Lets a model call the only tool of a server of the official SDK, and returns the result that the model receives. */
async function shownToModel(
  result: object,
  limits: { client?: ResultLimit; server?: ResultLimit | false } = { server: { characters: 1_000 } },
): Promise<{ type: string; value: never; output: unknown }> {
  const server = new Server({ name: 'raw', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = { type: 'object' as const };
  server.setRequestHandler('tools/list', async () => ({ tools: [{ name: 'list', inputSchema }] }));
  server.setRequestHandler('tools/call', async () => result as never);
  const mcp = clientOf(
    { it: { server, ...(limits.server !== undefined && { resultLimit: limits.server }) } },
    { ...(limits.client && { resultLimit: limits.client }) },
  );
  const { shown, output } = await callByModel(await mcp.listTools(), 'it_list');
  return { ...shown, output };
}

const textResult = (text: string, more: object = {}): object => ({ content: [{ type: 'text', text }], ...more });

describe('the limit of results that models receive', () => {
  test('cuts JSON at a whole element, and keeps the output of the tool', async () => {
    const { type, value, output } = await shownToModel(
      textResult(JSON.stringify({ rows }), { structuredContent: { rows } }),
    );
    expect(type).toBe('text');
    const [json, end] = String(value).split('\n\n');
    const shown = JSON.parse(json ?? '') as { rows: { next: number } };
    expect(shown).toEqual({
      rows: { items: rows.slice(0, shown.rows.next), truncated: true, total: 200, next: expect.any(Number) },
    });
    expect(end).toBe(
      `The result was cut because it is too long: the first ${shown.rows.next} of 200 elements are shown. ${note}`,
    );
    expect(output).toEqual({ rows });
    expect(json?.length).toBeLessThanOrEqual(1_000);
  });

  test('cuts text between characters', async () => {
    const text = '👩‍👩‍👧‍👦'.repeat(300);
    const { value, output } = await shownToModel(textResult(text));
    const [shown, end] = String(value).split('\n\n');
    expect(shown).toBe('👩‍👩‍👧‍👦'.repeat(90));
    expect(end).toContain(`the first 990 of ${text.length} characters`);
    expect(getToolResult(output)?.content).toEqual([{ type: 'text', text }]);
  });

  test('counts images, and leaves out those that exceed it', async () => {
    const image = (length: number): object => ({ type: 'image', data: 'A'.repeat(length), mimeType: 'image/png' });
    const { type, value } = await shownToModel({
      content: [{ type: 'text', text: 'a'.repeat(2_000) }, image(100), image(904), { type: 'text', text: 'b' }],
    });
    expect(type).toBe('content');
    expect((value as { type: string; text?: string }[]).map((part) => part.text?.length ?? part.type)).toEqual([
      900,
      'file',
      expect.any(Number),
      expect.any(Number),
    ]);
    expect((value as { text?: string }[])[2]?.text).toBe(
      `A file of type image/png with 904 base64 characters was left out because the result is too long. ${note}`,
    );
  });

  test('cuts the messages of errors', async () => {
    const { type, value } = await shownToModel(textResult('x'.repeat(5_000), { isError: true }));
    expect(type).toBe('error-text');
    expect(String(value)).toMatch(/^x{1000}\n\nThe result was cut .* 1000 of 5000 characters are shown/);
  });

  test.each([
    ['the client', { client: { characters: 1_000 } }, true],
    ['the server before that of the client', { client: { characters: 1_000 }, server: { characters: 100_000 } }, false],
    ['no limit of the server', { client: { characters: 1_000 }, server: false as const }, false],
    ['neither: there is none', {}, false],
  ])('is that of %s', async (_title, limits, isCut) => {
    const { value } = await shownToModel(textResult('x'.repeat(5_000)), limits);
    expect(String(value).includes(note)).toBe(isCut);
  });

  test('is checked when the client is created', () => {
    const create = (options: Partial<MCPClientOptions>): MCPClient =>
      new MCPClient({ id: crypto.randomUUID(), servers: { it: 'http://localhost:1/mcp' }, ...options });
    const invalid = expect.objectContaining({ code: 'OPTIONS_INVALID' });
    expect(() => create({ resultLimit: { characters: -1 } })).toThrow(invalid);
    const servers = { it: { url: 'http://localhost:1/mcp', resultLimit: 5 as never } };
    expect(() => create({ servers })).toThrow(invalid);
  });
});
