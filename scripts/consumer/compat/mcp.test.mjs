import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTool } from '@quiver/core/tools';
import { createSimpleTokenProvider, loadMcpConfig, MCPClient, MCPServer } from '@quiver/mcp';
import { z } from 'zod';

const add = createTool({
  id: 'add',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

test('a client lists and calls the tools of a server over HTTP and stdio at once', async () => {
  const server = new MCPServer({ id: 'http', name: 'Http', version: '1.0.0', tools: { add } });
  const { url } = await server.listen();
  const stdioServer = fileURLToPath(new URL('stdio-server.mjs', import.meta.url));
  const client = new MCPClient({
    servers: { http: { url }, stdio: { command: process.execPath, args: [stdioServer] } },
  });
  try {
    const tools = await client.listTools();
    assert.deepEqual(Object.keys(tools).toSorted(), ['http_add', 'stdio_echo']);
    assert.deepEqual(await tools.http_add.execute({ a: 1, b: 2 }), { sum: 3 });
    const echoed = await tools.stdio_echo.execute({ text: 'grüße 🙂' });
    assert.equal(echoed.content[0].text, 'grüße 🙂');
  } finally {
    await client.disconnect();
    await server.close();
  }
});

test('a client starts a server from the file of an editor', async () => {
  const project = mkdtempSync(join(tmpdir(), 'quiver-editor-'));
  const args = [fileURLToPath(new URL('stdio-server.mjs', import.meta.url))];
  const entry = JSON.stringify({ type: 'stdio', command: process.execPath, args, envFile: '${workspaceFolder}/.env' });
  mkdirSync(join(project, '.vscode'));
  writeFileSync(join(project, '.vscode', 'mcp.json'), `{ "servers": { "stdio": ${entry}, } } // with comments`);
  writeFileSync(join(project, '.env'), 'REGION="eu"\n');
  const { servers } = await loadMcpConfig(join(project, '.vscode', 'mcp.json'));
  rmSync(project, { recursive: true });
  assert.deepEqual(servers, { stdio: { command: process.execPath, args, env: { REGION: 'eu' } } });
  const client = new MCPClient({ servers });
  try {
    assert.deepEqual(Object.keys(await client.listTools()), ['stdio_echo']);
  } finally {
    await client.disconnect();
  }
});

test('parallel calls with a sign-in do not cause a listener warning', async () => {
  const slow = createTool({
    id: 'slow',
    description: 'Waits',
    execute: () => new Promise((resolve) => setTimeout(resolve, 300, { waited: true })),
  });
  const server = new MCPServer({ id: 'protected', name: 'Protected', version: '1.0.0', tools: { slow } });
  const { url } = await server.listen();
  const redirectUrl = 'http://localhost:3000/callback';
  const authProvider = createSimpleTokenProvider('token', { redirectUrl, clientMetadata: { redirect_uris: [] } });
  const client = new MCPClient({ servers: { protected: { url, authProvider } } });
  const warnings = [];
  const onWarning = ({ name }) => warnings.push(name);
  process.on('warning', onWarning);
  try {
    const { protected_slow: tool } = await client.listTools();
    const results = await Promise.all(Array.from({ length: 20 }, () => tool.execute({})));
    assert.equal(results.length, 20);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(warnings, []);
  } finally {
    process.off('warning', onWarning);
    await client.disconnect();
    await server.close();
  }
});
