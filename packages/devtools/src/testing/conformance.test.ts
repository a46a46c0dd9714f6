import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTool } from '@quiver/core/tools';
import { expect, it, onTestFinished } from 'vitest';
import { isLongRun } from '../../../../scripts/test-variable.ts';
import { MCPServer } from '@quiver/mcp/server';
import { conformance } from './index.js';

const toolOf = (id: string): ReturnType<typeof createTool> =>
  createTool({ id, description: 'Greets', execute: async () => 'Good morning' }) as never;

function serverOf(...names: string[]): MCPServer {
  const tools = Object.fromEntries(names.map((name) => [name, toolOf(name)]));
  const server = new MCPServer({ name: 'Greeter', version: '1', tools });
  onTestFinished(() => server.close());
  return server;
}

it('runs what any server can pass, and leaves the server open', async () => {
  const server = serverOf('greet');
  const { passed, notApplicable } = await conformance(server);
  expect(passed).toEqual(
    expect.arrayContaining(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']),
  );
  expect(notApplicable).toEqual(expect.arrayContaining(['tools-call-simple-text', 'prompts-list']));
  expect(server.health()).toMatchObject({ status: 'ok', inFlight: 0 });
});

it('requires all of a server with tools of the suite, and names what fails', async () => {
  const error = await conformance(serverOf('test_simple_text')).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'CONFORMANCE_FAILED',
    details: { failures: expect.arrayContaining([expect.stringMatching(/^tools-call-image: .*test_image_content/)]) },
  });
  expect((error as Error).message).not.toContain('server-initialize');
});

it.skipIf(!isLongRun)('tests a server at a URL, which may fail scenarios that are ignored', async () => {
  const server = serverOf('greet');
  // Accepts requests for every host.
  const http = createServer((req, res) =>
    server.startHTTP({
      url: new URL(req.url ?? '', 'http://x'),
      httpPath: '/mcp',
      req,
      res,
      options: { enableDnsRebindingProtection: false },
    }),
  );
  await new Promise<void>((resolve) => http.listen(0, resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = `http://localhost:${(http.address() as AddressInfo).port}/mcp`;
  await expect(conformance(url)).rejects.toThrow(/dns-rebinding-protection: /);
  const { passed } = await conformance(new URL(url), { ignore: ['dns-rebinding-protection'] });
  expect(passed).toContain('ping');
  expect(passed).not.toContain('dns-rebinding-protection');
});

it('says how to get a suite that can do what it is asked', async () => {
  await expect(conformance(serverOf('greet'), { requirements: '2026-07-28' })).rejects.toMatchObject({
    code: 'CONFORMANCE_UNAVAILABLE',
    message: expect.stringContaining('unknown option'),
  });
});
