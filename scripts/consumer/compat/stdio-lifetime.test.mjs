// The end of stdio servers and of their hosts, with the Node of this machine. The unit tests run with the newest Node.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const started = [];
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** Starts a program, whose standard error all of its children share: `close` means that they have ended too. */
function start(name, ...args) {
  const program = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  started.push(child);
  let text = '';
  const report = () => text.split('\n').filter(Boolean);
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (part) => (text += part));
  const reported = async (line) => {
    while (!report().includes(line)) await once(child.stderr, 'data');
  };
  return { child, report, reported };
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'wait', arguments: {} } };
const linesOf = (...messages) => messages.map((message) => `${JSON.stringify(message)}\n`).join('');

/** Each test waits for the end of a process, which must not last forever where it fails. */
const options = { timeout: 120_000 };

test('a server with an open timer ends with its input, in the middle of a call', options, async () => {
  const { child, report, reported } = start('lifetime-server.mjs');
  child.stdin.write(linesOf(initialize, call));
  await reported('waits');
  child.stdin.end();
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.deepEqual(report().slice(-2), ['closed', 'exit 0']);
});

test('a gateway ends after its own server', options, async () => {
  const { child, report, reported } = start('lifetime-server.mjs', 'gateway');
  await reported(String(child.pid));
  child.stdin.end();
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.deepEqual(
    report().filter((line) => !/^\d+$/.test(line)),
    ['closed', 'closed', 'exit 0', 'exit 0'],
  );
});

for (const end of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'exception']) {
  test(`a server ends with its host: ${end}`, { ...options, skip: process.platform === 'win32' }, async () => {
    const { child, reported } = start('lifetime-host.mjs', end);
    const closed = once(child, 'close');
    await reported('ready');
    if (end !== 'exception') child.kill(end);
    const [code, signal] = await closed;
    assert.equal(signal ?? code, end === 'exception' ? 1 : end);
  });
}
