import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { isLongRun } from '../../../../../scripts/test-variable.ts';
import { commandFor } from '../../../test/programs/spawn-server.ts';
import { initializeParams, rpc } from '../../../test/clients/wire.ts';

interface Program {
  readonly child: ChildProcess;
  /** Lines on standard error. */
  readonly report: () => string[];
  write(message: object): void;
}

/** Starts a server that something keeps alive, and waits for its response to `initialize`. */
async function start(mode: string): Promise<Program> {
  const { command, args } = commandFor('lifetime-server.ts', mode);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  afterTest(() => child.kill('SIGKILL'));
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const write = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  write(rpc('initialize', initializeParams, 'first'));
  await once(child.stdout, 'data');
  child.stdout.resume();
  return { child, report: () => text.split('\n').filter(Boolean), write };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the end of standard input', () => {
  test('ends a process with an open timer, with code 0, after the handlers of onClose()', async () => {
    const { child, report } = await start('timer');
    child.stdin?.end();
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(report()).toEqual(['closed', 'exit 0']);
  });

  test('aborts a call that never ends, and waits for its audit entry', async () => {
    const { child, report, write } = await start('call');
    write(rpc('tools/call', { name: 'wait', arguments: {} }, 'second'));
    await expect.poll(report).toContain('started');
    child.stdin?.end();
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(report()).toEqual(['started', 'aborted', 'audited wait', 'closed', 'exit 0']);
  });

  test.each([
    ['whose input ends', true],
    ['at its next write', false],
  ])('ends a process whose output and standard error have no reader, %s, with code 0', async (_when, endsInput) => {
    const { child, write } = await start('call');
    child.stdout?.destroy();
    child.stderr?.destroy();
    write(rpc('tools/call', { name: 'wait', arguments: {} }, 'second'));
    write(rpc('ping', {}, 'third'));
    if (endsInput) child.stdin?.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('ends a process whose shared store no longer answers', async () => {
    const { child, report } = await start('silent-store');
    child.stdin?.end();
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(report().slice(-2)).toEqual(['closed', 'exit 0']);
    expect(report()[0]).toContain('The shared store did not respond within 3000 ms.');
  });

  test.skipIf(!isLongRun)('ends a process after 15 seconds in which nothing ends', async () => {
    const { child, report, write } = await start('stuck');
    write(rpc('tools/call', { name: 'wait', arguments: {} }, 'second'));
    await expect.poll(report).toContain('started');
    child.stdin?.end();
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(report().join('\n')).toContain('The server was not closed completely: It did not end within 15000 ms.');
    expect(report().at(-1)).toBe('exit 0');
  });

  test('ends a server behind a program that started it, as the files of package managers do', async () => {
    const { command, args } = commandFor('lifetime-server.ts', 'timer');
    const script = `require('node:child_process').spawnSync(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: 'inherit' })`;
    const child = spawn(command, ['-e', script], { stdio: ['pipe', 'pipe', 'pipe'] });
    afterTest(() => child.kill('SIGKILL'));
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    child.stdin.end(`${JSON.stringify(rpc('initialize', initializeParams, 'first'))}\n`);
    child.stdout.resume();
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(text).toBe('closed\nexit 0\n');
  });

  test('ends the child servers of a gateway before the gateway', async () => {
    const { child, report } = await start('gateway');
    child.stdin?.end();
    expect(await once(child, 'close')).toEqual([0, null]);
    // The children share the standard error of the gateway: `close` means that they have ended too.
    const lines = report();
    expect([lines[0], lines.at(-1)]).toEqual(['closed', 'exit 0']);
    expect(lines.toSorted()).toEqual(['closed', 'closed', 'closed', 'exit 0', 'exit 0', 'exit 0']);
  });

  test('leaves the process alone with exitOnDisconnect: false', async () => {
    const { child, report } = await start('kept');
    child.stdin?.end();
    await expect.poll(report).toEqual(['end']);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([null, 'SIGTERM']);
    expect(report()).toEqual(['end']);
  });
});

test.skipIf(process.platform === 'win32')(
  'a server ends with a killed host, also when a process keeps its pipe open',
  async () => {
    const { command, args } = commandFor('lifetime-server.ts', 'timer');
    // The host starts the server, and a second process that inherits the pipe to it, prints their ids and waits.
    const host = spawn(
      command,
      [
        '-e',
        `
      const { spawn } = require('node:child_process');
      const server = spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
      server.stdin.write(${JSON.stringify(`${JSON.stringify(rpc('initialize', initializeParams, 'first'))}\n`)});
      server.stdout.once('data', () => {
        const keeper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'ignore', 'ignore', server.stdin] });
        console.log(JSON.stringify([server.pid, keeper.pid]));
      });
    `,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    afterTest(() => host.kill('SIGKILL'));
    const [line] = (await once(host.stdout, 'data')) as [Buffer];
    const [server, keeper] = JSON.parse(line.toString('utf8')) as [number, number];
    try {
      host.kill('SIGKILL');
      await expect.poll(() => isRunning(server)).toBe(false);
      expect(isRunning(keeper)).toBe(true);
    } finally {
      process.kill(keeper, 'SIGKILL');
    }
  },
);
