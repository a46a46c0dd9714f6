import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../test/error-of.ts';
import { commandFor } from '../../../test/programs/spawn-server.ts';
import { loadMcpConfig, type SkippedMcpSetting } from './config-file.js';
import { MCPClient } from '../mcp-client.js';
import { scratchFolder } from '../../../test/scratch-folder.js';
import { captureLog } from '../../../test/capture-log.ts';

const scratch = scratchFolder();

function write(content: unknown): string {
  const file = join(scratch, `${Math.random()}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

async function load(mcpServers: unknown, env: Record<string, string> = {}) {
  const file = write({ mcpServers });
  const skipped: SkippedMcpSetting[] = [];
  const config = await loadMcpConfig(file, { env, onSkip: (setting) => skipped.push(setting) });
  return { ...config, skipped, file };
}

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

  test('leaves a server out, and names file, key and variable, when a variable is not set', async () => {
    const a = { command: 'x', env: { TOKEN: '${SECRET_TOKEN}' } };
    const { servers, skipped, file } = await load({ a, b: { command: 'y' } });
    expect(servers).toEqual({ b: { command: 'y' } });
    const error = {
      code: 'MCP_CONFIG_VARIABLE_UNDEFINED',
      message: expect.stringContaining(file),
      details: { file, key: 'mcpServers.a.env.TOKEN', variable: 'SECRET_TOKEN' },
    };
    expect(skipped).toMatchObject([{ server: 'a', key: 'mcpServers.a', reason: 'invalid', error }]);
  });

  test('names the file that is missing or not JSON', async () => {
    const missing = join(scratch, 'missing.json');
    await expect(loadMcpConfig(missing)).rejects.toThrow(errorOf('MCP_CONFIG_NOT_FOUND', missing));
    await expect(loadMcpConfig(write('{ "mcpServers": '))).rejects.toMatchObject({ code: 'MCP_CONFIG_INVALID' });
  });

  test('names the place of a syntax error, and quotes nothing, also in the cause', async () => {
    const file = write('{\n  "mcpServers": { "a": { "env": { "KEY": sk-s3cret } } }\n}');
    const error = await loadMcpConfig(file).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'MCP_CONFIG_INVALID',
      message: `The MCP configuration ${file} is not JSON: InvalidSymbol at line 2, column 42.`,
    });
    expect(inspect(error)).not.toContain('s3cret');
  });

  test('reads a file with a byte order mark and a server with any name', async () => {
    const { servers } = await loadMcpConfig(write('\uFEFF{ "mcpServers": { "__proto__": { "command": "x" } } }'));
    expect(Object.entries(servers)).toEqual([['__proto__', { command: 'x' }]]);
  });

  test.each([[[]], [undefined]])('requires an object with servers, not %j', async (mcpServers) => {
    await expect(load(mcpServers)).rejects.toMatchObject({
      code: 'MCP_CONFIG_INVALID',
      details: { key: 'mcpServers' },
      message: expect.stringContaining('one of the objects mcpServers, context_servers, servers'),
    });
  });

  test('rejects a file with the servers of two hosts', async () => {
    await expect(loadMcpConfig(write({ servers: {}, mcpServers: {} }))).rejects.toThrow(errorOf('MCP_CONFIG_INVALID'));
  });

  test.each([
    ['x', ''],
    [{}, ''],
    [{ command: 'x', url: 'https://a.example' }, ''],
    [{ command: 7 }, '.command'],
    [{ command: '' }, '.command'],
    [{ command: 'x', type: 'http' }, '.type'],
    [{ command: 'x', args: 'y' }, '.args'],
    [{ command: 'x', env: { B: 1 } }, '.env.B'],
    [{ command: 'x', envFile: 1 }, '.envFile'],
    [{ command: 'x', cwd: 1 }, '.cwd'],
    [{ command: 'x', includeTools: 'y' }, '.includeTools'],
    [{ url: 'nowhere' }, '.url'],
    [{ serverUrl: 'ftp://user:s3cret@a.example' }, '.serverUrl'],
    [{ httpUrl: 1 }, '.httpUrl'],
    [{ url: 'https://a.example', headers: ['x'] }, '.headers'],
    [{ url: 'https://a.example', headers: { Authorization: { token: 's3cret' } } }, '.headers.Authorization'],
  ])('names the key that is wrong in %j, without its value', async (entry, member) => {
    const { servers, skipped } = await load({ a: entry, b: { command: 'y' } });
    expect(servers).toEqual({ b: { command: 'y' } });
    const key = `mcpServers.a${member}`;
    const error = { code: 'MCP_CONFIG_INVALID', details: { key }, message: expect.stringContaining(`${key} `) };
    expect(skipped).toMatchObject([{ reason: 'invalid', error }]);
    expect(inspect(skipped, { depth: 9 })).not.toContain('s3cret');
  });

  test('names an envFile that cannot be read', async () => {
    const { skipped } = await load({ a: { command: 'x', envFile: 'missing.env' } });
    const message = expect.stringMatching(/at mcpServers\.a\.envFile .*ENOENT/);
    expect(skipped).toMatchObject([{ error: { code: 'MCP_CONFIG_NOT_FOUND', message } }]);
  });

  test('names a variable that only its host can resolve', async () => {
    const { skipped } = await load({ a: { command: 'x', args: ['${config:editor.fontSize}'] } });
    expect(skipped[0]?.error?.message).toMatch(
      /uses \$\{config:editor\.fontSize\} at mcpServers\.a\.args\[0\], which only its own host can resolve\. Replace it\.$/,
    );
  });

  test('takes the workspace folder from its option', async () => {
    const { servers } = await loadMcpConfig(write({ mcpServers: { a: { command: '${workspaceFolder}/x' } } }), {
      workspaceFolder: '/srv',
    });
    expect(servers).toEqual({ a: { command: '/srv/x' } });
  });

  test('ends with the error that onSkip throws', async () => {
    const onSkip = ({ error }: SkippedMcpSetting): void => {
      if (error) throw error;
    };
    const loading = loadMcpConfig(write({ mcpServers: { off: { disabled: true }, a: {} } }), { onSkip });
    await expect(loading).rejects.toThrow(errorOf('MCP_CONFIG_INVALID'));
  });

  test.each([
    [{ a: { command: 'x', args: ['${SCRIPT}'] } }, 'MCP_CONFIG_VARIABLE_UNDEFINED'],
    [{ a: { command: 3 } }, 'MCP_CONFIG_INVALID'],
    [{ a: { foo: 1 }, b: { command: 'x' } }, 'MCP_CONFIG_INVALID'],
  ])('rejects %j when no onSkip is given', async (mcpServers, code) => {
    await expect(loadMcpConfig(write({ mcpServers }), { env: {} })).rejects.toMatchObject({ code });
  });

  test('logs disabled servers and settings without effect by default', async () => {
    const lines = captureLog('info', 'warn');
    const file = write({
      mcpServers: {
        a: { url: 'https://a.example', auth: { CLIENT_SECRET: 's3cret' } },
        c: { command: 'x', disabled: true },
      },
    });
    await loadMcpConfig(file);
    expect(lines).toEqual([
      `The MCP configuration ${file} sets mcpServers.a.auth, which has no effect here.`,
      `The MCP configuration ${file} disables mcpServers.c.`,
    ]);
  });

  test('what it returns is a configuration', async () => {
    const { command, args } = commandFor('stdio-server.ts');
    const config = await loadMcpConfig(write({ mcpServers: { it: { command, args } } }));
    await using mcp = new MCPClient({ id: 'config', ...config });
    expect(Object.keys(await mcp.listTools())).toContain('it_echo');
  });
});
