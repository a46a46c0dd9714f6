import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { commandFor, spawnHttpServer } from '../../../test/programs/spawn-server.ts';
import { MCPClient } from '../mcp-client.js';

const running: { stop(): unknown }[] = [];
afterEach(() => Promise.all(running.splice(0).map((each) => each.stop())));

/** Starts the client program. `line` resolves with its next line. */
function startProgram(...args: string[]): { child: ChildProcess; line(): Promise<string> } {
  const { command, args: argv } = commandFor('task-program.ts', ...args);
  const child = spawn(command, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push({ stop: () => child.kill('SIGKILL') });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async () => String((await lines.next()).value) };
}

test('a task survives the end of the program that started it', async () => {
  const server = await spawnHttpServer('task-server.ts');
  running.push(server);
  const first = startProgram(server.url);
  const handle = await first.line();
  expect(JSON.parse(handle)).toEqual({ serverName: 'reports', name: 'report', taskId: expect.any(String) });
  expect(await first.line()).toBe('reading');
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');

  const second = startProgram(server.url, handle);
  expect(await second.line()).toBe('reading');
  const mcp = new MCPClient({ servers: { reports: { url: server.url } } });
  running.push({ stop: () => mcp.disconnect() });
  await mcp.callTool({ serverName: 'reports', name: 'release' });
  expect(JSON.parse(await second.line())).toMatchObject({ content: [{ type: 'text', text: 'run 1' }] });
  expect(await once(second.child, 'exit')).toEqual([0, null]);
});
