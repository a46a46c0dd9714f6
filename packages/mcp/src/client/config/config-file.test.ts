import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandFor } from '../../../test/spawn-server.ts';
import { loadMcpConfig } from './config-file.js';
import { MCPClient } from '../mcp-client.js';
import { scratchFolder } from '../../../test/scratch-folder.js';

const scratch = scratchFolder();

function write(content: unknown): string {
  const file = join(scratch, `${Math.random()}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const load = (mcpServers: unknown, env: Record<string, string> = {}): ReturnType<typeof loadMcpConfig> =>
  loadMcpConfig(write({ mcpServers }), { env });

describe('loadMcpConfig', () => {
  test('reads programs and URLs, with headers and transports, and leaves out what is disabled', async () => {
    const { servers } = await load({
      files: { command: 'npx', args: ['-y', 'files'], env: { A: '1' }, cwd: '/tmp' },
      web: { type: 'streamable-http', url: 'https://a.example/mcp', headers: { 'X-Key': 'k' } },
      old: { type: 'sse', url: 'https://b.example/events' },
      plain: { command: 'x' },
      off: { command: 'x', disabled: true },
    });
    expect(servers).toStrictEqual({
      files: { command: 'npx', args: ['-y', 'files'], env: { A: '1' }, cwd: '/tmp' },
      web: { url: 'https://a.example/mcp', transport: 'http', requestInit: { headers: { 'X-Key': 'k' } } },
      old: { url: 'https://b.example/events', transport: 'sse' },
      plain: { command: 'x' },
    });
  });

  test('replaces variables everywhere, with defaults', async () => {
    const { servers } = await load(
      {
        a: {
          command: '${BIN}',
          args: ['--${MODE:-fast}', '$${BIN}', '${EMPTY:-filled}', '${NONE:-}'],
          env: { TOKEN: 'Bearer ${TOKEN}' },
        },
        b: { url: 'https://${HOST:-localhost:8080}/mcp' },
      },
      { BIN: '/bin/x', TOKEN: 't', EMPTY: '' },
    );
    expect(servers).toEqual({
      a: { command: '/bin/x', args: ['--fast', '${BIN}', 'filled', ''], env: { TOKEN: 'Bearer t' } },
      b: { url: 'https://localhost:8080/mcp' },
    });
  });

  test('names file, key and variable when a variable is not set', async () => {
    const file = write({ mcpServers: { a: { command: 'x', env: { TOKEN: '${SECRET_TOKEN}' } } } });
    await expect(loadMcpConfig(file, { env: {} })).rejects.toMatchObject({
      code: 'MCP_CONFIG_VARIABLE_UNDEFINED',
      message: expect.stringContaining(file),
      details: { file, key: 'mcpServers.a.env.TOKEN', variable: 'SECRET_TOKEN' },
    });
  });

  test('names the file that is missing or not JSON', async () => {
    const missing = join(scratch, 'missing.json');
    await expect(loadMcpConfig(missing)).rejects.toMatchObject({
      code: 'MCP_CONFIG_NOT_FOUND',
      message: expect.stringContaining(missing),
    });
    await expect(loadMcpConfig(write('{ "mcpServers": '))).rejects.toMatchObject({ code: 'MCP_CONFIG_INVALID' });
  });

  test.each([
    [[], 'mcpServers'],
    [undefined, 'mcpServers'],
    [{ a: 'x' }, 'mcpServers.a'],
    [{ a: {} }, 'mcpServers.a'],
    [{ a: { command: 7 } }, 'mcpServers.a.command'],
    [{ a: { command: 'x', args: 'y' } }, 'mcpServers.a.args'],
    [{ a: { command: 'x', env: { B: 1 } } }, 'mcpServers.a.env.B'],
    [{ a: { command: 'x', cwd: 1 } }, 'mcpServers.a.cwd'],
    [{ a: { url: 'nowhere' } }, 'mcpServers.a.url'],
    [{ a: { url: 'https://a.example', headers: ['x'] } }, 'mcpServers.a.headers'],
  ])('names the key that is wrong in %j', async (mcpServers, key) => {
    await expect(load(mcpServers)).rejects.toMatchObject({
      code: 'MCP_CONFIG_INVALID',
      details: { key },
      message: expect.stringContaining(`${key} `),
    });
  });

  test('what it returns is a configuration', async () => {
    const { command, args } = commandFor('stdio-server.ts');
    await using mcp = new MCPClient({ id: 'config', ...(await load({ it: { command, args } })) });
    expect(Object.keys(await mcp.listTools())).toContain('it_echo');
  });
});
