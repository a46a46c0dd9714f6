// The server of the migration from SDK 1 serves the client of SDK 1, and clients of both eras, at one URL.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MCPClient } from '@quiver/mcp/client';
import { readCodeBlocks } from './code-blocks.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));
/** The official SDK is a dependency of the package that is compared with it. */
const requireFromMcp = createRequire(join(docs, '../packages/mcp/package.json'));

interface SdkClient {
  connect(transport: object): Promise<void>;
  callTool(call: object): Promise<object>;
  close(): Promise<void>;
}

async function importFromSdk(path: string): Promise<Record<string, new (...parameters: unknown[]) => object>> {
  return import(pathToFileURL(requireFromMcp.resolve(`@modelcontextprotocol/sdk/${path}`)).href);
}

test('a server that was migrated from SDK 1 serves clients of both eras', async (t) => {
  const page = readFileSync(join(docs, 'help/migrate-from-mcp-sdk.md'), 'utf8');
  const diff = readCodeBlocks(page).find(({ language }) => language === 'diff');
  const lines = diff?.code.split('\n').filter((line) => !line.startsWith('-')) ?? [];
  const program = lines.map((line) => line.slice(1)).join('\n');
  const folder = mkdtempSync(join(docs, 'check/deploy-migrated-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'server.ts'),
    program.replace('await server.listen({ port: 3000 });', 'process.send?.((await server.listen()).url);'),
  );
  const child = spawn(process.execPath, ['server.ts'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  t.after(() => child.kill());
  const [url] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [string];
  assert.equal(typeof url, 'string');
  const content = [{ type: 'text', text: '7: shipped' }];

  const { Client } = await importFromSdk('client/index.js');
  const { StreamableHTTPClientTransport } = await importFromSdk('client/streamableHttp.js');
  assert.ok(Client && StreamableHTTPClientTransport);
  const client = new Client({ name: 'app', version: '1.0.0' }) as SdkClient;
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  assert.deepEqual(
    ((await client.callTool({ name: 'status', arguments: { id: '7' } })) as { content: object }).content,
    content,
  );
  await client.close();

  for (const protocol of ['legacy', 'modern', 'auto'] as const) {
    const mcp = new MCPClient({ id: protocol, servers: { orders: { url, protocol } } });
    const result = await mcp.callTool({ serverName: 'orders', name: 'status', args: { id: '7' } });
    assert.deepEqual(result.content, content);
    await mcp.disconnect();
  }
});
