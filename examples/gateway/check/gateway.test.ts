import assert from 'node:assert/strict';
import { spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MCPClient, type MastraMCPServerDefinition } from '@quiver/mcp/client';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The gateway's own flags: those of the test program are not for it. */
const flags = process.execArgv.filter((flag) => !flag.startsWith('--test'));

async function use(definition: MastraMCPServerDefinition): Promise<void> {
  await using client = new MCPClient({
    id: crypto.randomUUID(),
    servers: { all: { connectTimeout: 60_000, ...definition } },
  });
  const { all = [] } = await client.listToolDefinitions();
  assert.deepEqual(all.map(({ name }) => name).toSorted(), [
    'call_read_tool',
    'call_write_tool',
    'everything_echo',
    'search_tools',
  ]);
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ serverName: 'all', name, args });
  const found = JSON.stringify(await call('search_tools', { query: 'list the files of a directory' }));
  assert.match(found, /files_list_directory/);
  const args = { name: 'files_list_directory', arguments: { path: process.cwd() } };
  assert.match(JSON.stringify(await call('call_read_tool', args)), /package\.json/);
  assert.match(JSON.stringify(await call('everything_echo', { message: 'hello' })), /Echo: hello/);
  assert.ok(((await client.resources.list())['all'] ?? []).length > 0);
}

/** Processes that a process has started, and theirs. */
function childrenOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const own = pairs.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
  return [...own, ...own.flatMap(childrenOf)];
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('serves five servers over stdio, and ends them with its host', { timeout: 120_000 }, async () => {
  const before = childrenOf(process.pid);
  let children: number[] = [];
  await use({ command: process.execPath, args: [...flags, main] }).finally(() => {
    children = childrenOf(process.pid).filter((pid) => !before.includes(pid));
  });
  while (children.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 50));
});

test('serves them over HTTP, and ends them with itself', { timeout: 120_000 }, async () => {
  const child = spawn(process.execPath, [...flags, main, '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let url = '';
  for await (const text of child.stderr.setEncoding('utf8')) {
    url = /http:\S+/.exec(String(text))?.[0] ?? '';
    if (url !== '') break;
  }
  const children = childrenOf(child.pid as number);
  assert.equal(children.length >= 5, true);
  await use({ url });
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
  while (children.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 50));
});
