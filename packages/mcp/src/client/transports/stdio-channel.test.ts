import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { scratchFolder } from '../../../test/scratch-folder.ts';
import type { Receiver } from './channel.js';
import { StdioChannel } from './stdio-channel.js';

const scratch = scratchFolder();

async function startChild(script: string, ...launcher: string[]) {
  const messages: unknown[] = [];
  const errors: unknown[] = [];
  let closed: unknown;
  const receiver: Receiver = {
    onMessage: (message) => messages.push(message),
    onError: (error) => errors.push(error),
    onSessionLost: () => {},
    onClosed: (error) => {
      closed = error;
    },
  };
  const [command = '', ...args] = [...launcher, process.execPath, '-e', script];
  const channel = new StdioChannel({ command, args });
  onTestFinished(() => channel.close());
  await channel.start(receiver);
  return { channel, messages, errors, closed: () => closed };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('StdioChannel', () => {
  test('delivers messages and reports lines that are not JSON', async () => {
    const { messages, errors } = await startChild(
      `console.log('Welcome!'); console.log('{"jsonrpc":"2.0","method":"early"}'); setTimeout(() => {}, 60_000)`,
    );
    await expect.poll(() => messages).toEqual([{ jsonrpc: '2.0', method: 'early' }]);
    expect(errors).toMatchObject([{ code: 'STRAY_OUTPUT', message: expect.stringContaining('Welcome!') }]);
  });

  test('writes the messages of one turn at once', async () => {
    const { channel, messages } = await startChild(
      `process.stdin.once('data', (chunk) => console.log(JSON.stringify(String(chunk).trim().split('\\n').length)))`,
    );
    for (let id = 0; id < 16; id += 1) void channel.send({ jsonrpc: '2.0', id, method: 'ping' });
    await expect.poll(() => messages).toEqual([16]);
  });

  test('reports how the child ended, and rejects later messages', async () => {
    const { channel, closed } = await startChild('process.exit(7)');
    await expect.poll(closed).toMatchObject({ message: 'the process exited with code 7' });
    expect(() => channel.send({ jsonrpc: '2.0', method: 'late' })).toThrow(
      errorOf('MCP_CONNECTION_CLOSED', 'exited with code 7'),
    );
  });

  // `setsid` is a program of util-linux.
  test.skipIf(process.platform !== 'linux')('starts and ends a server behind setsid', async () => {
    // The server has a child that only a signal to its group ends.
    const { channel, messages } = await startChild(
      `const { pid } = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
      process.stdin.on('data', () => console.log(JSON.stringify(pid))).on('end', () => process.exit(0));`,
      'setsid',
    );
    void channel.send({ jsonrpc: '2.0', method: 'ping' });
    await expect.poll(() => messages).toEqual([expect.any(Number)]);
    await channel.close();
    await expect.poll(() => isRunning(messages[0] as number)).toBe(false);
  });

  test('says where the arguments of a program belong', async () => {
    const channel = new StdioChannel({ command: 'node server.js' });
    const receiver = { onMessage() {}, onError() {}, onSessionLost() {}, onClosed() {} };
    await expect(channel.start(receiver)).rejects.toMatchObject({
      code: 'SPAWN_FAILED',
      message: expect.stringMatching(/PATH\. `command` is the program alone: its arguments belong in `args`\.$/),
    });
  });

  test('starts a .cmd file through the command interpreter on Windows, and ends it with what it started', async () => {
    // A program that believes to run on Windows: PATHEXT finds `tool.cmd`, and `comspec` is a script that prints its arguments.
    const interpreter = join(scratch, 'interpreter.cjs');
    writeFileSync(
      interpreter,
      `#!${process.execPath}\nconsole.log(JSON.stringify({ jsonrpc: '2.0', method: 'started', params: { args: process.argv.slice(2) } }));\nsetTimeout(() => {}, 60_000);\n`,
    );
    writeFileSync(join(scratch, 'tool.cmd'), '@echo off\n');
    // Without it, only the interpreter would end.
    const killed = join(scratch, 'killed');
    writeFileSync(
      join(scratch, 'taskkill'),
      `#!${process.execPath}\nconst [, , ...args] = process.argv;\nrequire('node:fs').writeFileSync(${JSON.stringify(killed)}, args.join(' '));\nprocess.kill(Number(args[1]), 'SIGKILL');\n`,
    );
    for (const file of [interpreter, join(scratch, 'tool.cmd'), join(scratch, 'taskkill')]) chmodSync(file, 0o755);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        '--conditions=@quiver/source',
        '--import',
        fileURLToPath(new URL('../../../../../scripts/source-hooks.mjs', import.meta.url)),
        fileURLToPath(new URL('../../../test/programs/windows-program.ts', import.meta.url)),
        'tool',
        'a b',
        '50%',
      ],
      { env: { ...process.env, PATHEXT: '.exe;.cmd', comspec: interpreter, PATH: `${scratch};/:${scratch}` } },
    );
    const [slashD, slashS, slashC, line] = JSON.parse(stdout) as string[];
    expect([slashD, slashS, slashC]).toEqual(['/d', '/s', '/c']);
    expect(line).toBe('"tool ^"a^ b^" ^"50^%^""');
    expect(readFileSync(killed, 'utf8')).toMatch(/^\/pid \d+ \/T \/F$/);
  });
});
