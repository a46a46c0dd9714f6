import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { StdioTransport } from './stdio-transport.js';

const childOf = (script: string) => new StdioTransport({ command: process.execPath, args: ['-e', script] });

describe('StdioTransport', () => {
  test('hears what a child wrote before anybody listened', async () => {
    const transport = childOf(`console.log('{"jsonrpc":"2.0","method":"early"}'); setTimeout(() => {}, 60_000)`);
    await transport.spawn();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const message = new Promise((resolve) => {
      Object.assign(transport, { onmessage: resolve });
    });
    await transport.start();
    expect(await message).toMatchObject({ method: 'early' });
    await transport.close();
  });

  test('says how a child ended that nobody listened to yet', async () => {
    const transport = childOf('process.exit(7)');
    await transport.spawn();
    while (transport.pid !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(transport.start()).rejects.toMatchObject({
      code: 'MCP_CONNECTION_CLOSED',
      message: expect.stringContaining('exited with code 7'),
    });
  });

  test('starts one child, however often it is asked to', async () => {
    const transport = childOf('setTimeout(() => {}, 60_000)');
    await Promise.all([transport.spawn(), transport.spawn(), transport.start()]);
    const { pid } = transport;
    await transport.spawn();
    expect(transport.pid).toBe(pid);
    await transport.close();
  });
});
