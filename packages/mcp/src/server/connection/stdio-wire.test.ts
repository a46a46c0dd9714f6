import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterTest } from '../../../test/after-test.ts';
import { commandFor } from '../../../test/programs/spawn-server.ts';
import { envelope, initializeParams, rpc } from '../../../test/clients/wire.ts';
import { createLineReader } from '../../line-reader.js';

interface Session {
  process: ChildProcess;
  write: (text: string | Uint8Array) => void;
  /** The lines on standard output so far. */
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  lines: any[];
  raw: () => string;
}

function start(): Session {
  const { command, args } = commandFor('stdio-server.ts');
  const started = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  afterTest(() => started.kill('SIGKILL'));
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  const lines: any[] = [];
  let raw = '';
  started.stdout.on('data', (chunk: Buffer) => {
    raw += chunk.toString('utf8');
    const whole = raw.split('\n').slice(0, -1);
    lines.splice(0, Infinity, ...whole.map((line) => JSON.parse(line) as unknown));
  });
  return { process: started, write: (text) => void started.stdin.write(text), lines, raw: () => raw };
}

const line = (message: object): string => `${JSON.stringify(message)}\n`;

describe('a server over stdio', () => {
  test('answers a malformed line with a parse error and continues', async () => {
    const { write, lines } = start();
    write('{oops\n\n');
    write(line(rpc('ping', undefined, 'after')));
    await expect
      .poll(() => lines)
      .toEqual([
        { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error: Invalid JSON' } },
        { jsonrpc: '2.0', id: 'after', result: {} },
      ]);
  });

  test('split characters, CRLF and thousands of messages in one chunk are all read', async () => {
    const { write, lines } = start();
    const bytes = Buffer.from(line(rpc('tools/call', { name: 'echo', arguments: { message: 'grüße ✓ 🏹' } }, 'split')));
    for (const byte of bytes) write(Uint8Array.of(byte));
    write('{"jsonrpc":"2.0","id":"crlf","method":"ping"}\r\n');
    write(Array.from({ length: 5000 }, (_, id) => line(rpc('ping', undefined, id))).join(''));
    await expect.poll(() => lines.length).toBe(5002);
    expect(lines.find(({ id }) => id === 'split').result.content[0].text).toBe('grüße ✓ 🏹');
    expect(lines.some(({ id }) => id === 'crlf')).toBe(true);
  });

  test('console.log of a tool never reaches standard output', async () => {
    const { write, lines, raw } = start();
    write(line(rpc('initialize', initializeParams)));
    await expect.poll(() => lines.length).toBe(1);
    expect(raw()).not.toContain('ready');
  });

  test('the end of its input ends the process, with code 0, even while a tool runs', async () => {
    const { process: server, write } = start();
    write(line(rpc('tools/call', { name: 'wait', arguments: { milliseconds: 60_000 } })));
    await new Promise((resolve) => setTimeout(resolve, 400));
    server.stdin?.end();
    expect(await once(server, 'exit')).toEqual([0, null]);
  });

  test('a reader that went away is no error', async () => {
    const { process: server, write } = start();
    write(line(rpc('ping')));
    await once(server.stdout as NodeJS.ReadableStream, 'data');
    server.stdout?.destroy();
    server.stdin?.on('error', () => {});
    const exited = once(server, 'exit');
    write(line(rpc('ping')));
    await new Promise((resolve) => setTimeout(resolve, 100));
    write(line(rpc('ping')));
    expect(await exited).toEqual([0, null]);
  });

  test('answers both generations on one connection, and cancels', async () => {
    const { write, lines } = start();
    write(line(rpc('tools/call', { name: 'wait', arguments: { milliseconds: 60_000 } }, 'old')));
    write(line(rpc('tools/call', { name: 'echo', arguments: { message: 'x' }, _meta: envelope }, 'new')));
    write(line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'old' } }));
    write(line(rpc('ping', undefined, 'last')));
    await expect.poll(() => lines.map(({ id }) => id as string).toSorted()).toEqual(['last', 'new']);
    expect(lines.find(({ id }) => id === 'new').result.resultType).toBe('complete');
  });
});

describe('the line reader', () => {
  const read = (chunks: Iterable<Buffer>, maxBytes: number): { lines: string[]; tooLong: number } => {
    const result = { lines: [] as string[], tooLong: 0 };
    const take = createLineReader({
      maxBytes,
      onLine: (text) => result.lines.push(text),
      onTooLong: () => (result.tooLong += 1),
    });
    for (const chunk of chunks) take(chunk);
    return result;
  };

  test('reads the same lines however the bytes are split', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fc.array(text), fc.infiniteStream(fc.integer({ min: 1, max: 7 })), (texts, sizes) => {
        const bytes = Buffer.from(texts.map((value) => `${value}\n`).join(''));
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length;) {
          const size = sizes.next().value;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(read(chunks, 1_000_000)).toEqual({ lines: texts, tooLong: 0 });
      }),
    );
  });

  test('drops lines that are too long, wherever they are split, and reads the next', () => {
    const bytes = Buffer.from(`${'x'.repeat(100)}\nshort\n`);
    for (const size of [1, 7, 99, 100, 101, 200]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(read(chunks, 50)).toEqual({ lines: ['short'], tooLong: 1 });
    }
  });
});
