// The command of docs/guides/bundle.md yields a file that serves a call without a package or a bare Node module.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readCodeBlocks } from './code-blocks.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));

const worker = `
import { createTool } from '@quiver/core/tools';
import { MCPServer } from '@quiver/mcp/server';
import { z } from 'zod';
const inputSchema = z.object({ text: z.string() });
const echo = createTool({ id: 'echo', description: 'Returns the text', inputSchema, execute: async ({ text }) => text });
const server = new MCPServer({ name: 'Echo', version: '1.0.0', tools: { echo } });
export default { fetch: (request) => server.fetch(request, { serverless: true }) };
`;

test('a bundled worker answers a call', async (t) => {
  const folder = mkdtempSync(join(docs, 'check/bundle-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'index.ts'), worker);
  const page = readFileSync(join(docs, 'guides/bundle.md'), 'utf8');
  const command = readCodeBlocks(page).find(({ language }) => language === 'sh')?.code ?? '';
  const shell = command.replace('npx esbuild', 'esbuild').replace('src/index.ts', 'index.ts');
  const { status, stderr } = spawnSync(shell, { shell: true, cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);

  const { default: bundle } = (await import(pathToFileURL(join(folder, 'worker.js')).href)) as {
    default: { fetch(request: Request): Promise<Response> };
  };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hi' } } };
  const response = await bundle.fetch(
    new Request('https://mcp.example.com/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(call),
    }),
  );
  assert.deepEqual(await response.json(), {
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: 'hi' }] },
  });
});
