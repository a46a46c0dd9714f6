// The programs of the page "A server for a company" keep tenants apart, and survive restarts.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MCPClient } from '@quiver/mcp/client';
import { readCodeBlocks } from './code-blocks.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(docs, 'guides/company-server.md'), 'utf8');

function programOf(name: string): string {
  const block = readCodeBlocks(page).find(({ code }) => code.startsWith(`// ${name}`));
  assert.ok(block, `The page has no program ${name}.`);
  return block.code;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts a program of the page, as often as it is called, at one URL. */
async function prepare(t: TestContext, name: string): Promise<{ url: string; start: () => Promise<ChildProcess> }> {
  const folder = mkdtempSync(join(docs, 'check/deploy-company-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), programOf(name));
  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    const env = { ...process.env, PORT: String(port) };
    const child = spawn(process.execPath, [name], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit').then(([code]) => assert.fail(`${name} ended with code ${String(code)}.`));
    await Promise.race([once(child.stdout, 'data'), ended]);
    ended.catch(() => {});
    return child;
  };
  return { url: `http://127.0.0.1:${port}/mcp`, start };
}

async function stop(child: ChildProcess): Promise<number | null> {
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

function connect(t: TestContext, url: string, headers: Record<string, string>): MCPClient {
  const client = new MCPClient({ servers: { it: { url: new URL(url), requestInit: { headers } } } });
  t.after(() => client.disconnect());
  return client;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function assertProtected(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: '{}' });
  assert.equal(response.status, 401);
  assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/);
  assert.equal((await fetch(new URL('/health', url))).status, 200);
}

test('the search returns the documents of the tenant of the token', async (t) => {
  const { url, start } = await prepare(t, 'search.ts');
  const child = await start();
  await assertProtected(url);
  for (const [token, expected, other] of [
    ['acme-secret', 'wash cold', 'dry clean'],
    ['globex-secret', 'dry clean', 'wash cold'],
  ] as const) {
    const { it_search: search } = await connect(t, url, bearer(token)).listTools();
    const found = JSON.stringify(await search?.execute({ queryText: 'How do I care for coats?' }));
    assert.match(found, new RegExp(expected));
    assert.doesNotMatch(found, new RegExp(other));
  }
  assert.equal(await stop(child), 0);
});

test('a user confirms after a restart what was asked before it', async (t) => {
  const { url, start } = await prepare(t, 'accounts.ts');
  let child = await start();
  await assertProtected(url);
  const ada = connect(t, url, bearer('ada-secret'));
  const asked: string[] = [];
  await ada.elicitation.onRequest('it', async ({ message }) => {
    asked.push(message);
    await stop(child);
    child = await start();
    return { action: 'accept', content: {} };
  });
  const close = (await ada.listTools())['it_closeAccount'];
  const resultOf = async (tool: typeof close, customer: string): Promise<string> =>
    JSON.stringify(await tool?.execute({ customer }));
  assert.match(await resultOf(close, 'Smith'), /Closed the account of Smith/);
  assert.deepEqual(asked, ['Close the account of Smith?']);
  // The account of the other tenant is still there, and Ada's tenant has it no more.
  assert.match(await resultOf(close, 'Smith'), /No account of Smith/);
  const bob = connect(t, url, bearer('bob-secret'));
  await bob.elicitation.onRequest('it', async () => ({ action: 'decline' }));
  assert.match(await resultOf((await bob.listTools())['it_closeAccount'], 'Smith'), /Kept/);
});

test('an export in flight ends with its result before the process does', async (t) => {
  const { url, start } = await prepare(t, 'export.ts');
  const child = await start();
  await assertProtected(url);
  const client = connect(t, url, { 'x-api-key': 'acme-key' });
  const updates: number[] = [];
  let exited: Promise<number | null> | undefined;
  const result = await client.callTool({
    serverName: 'it',
    name: 'exportOrders',
    args: { year: 2026 },
    onProgress: ({ progress }) => {
      updates.push(progress);
      exited ??= stop(child);
    },
  });
  assert.match(JSON.stringify(result), /acme-2026\.csv/);
  assert.deepEqual(updates, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  assert.equal(await exited, 0);
});
