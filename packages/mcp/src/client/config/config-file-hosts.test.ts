import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../test/scratch-folder.js';
import { loadMcpConfig, type LoadMcpConfigOptions, type SkippedMcpSetting } from './config-file.js';

const home = homedir();
let projects = 0;

/** Writes files into a new project, and loads the first of them as its host would find it. */
async function load(files: Record<string, string>, options: LoadMcpConfigOptions = {}) {
  const project = join(scratch, `project${(projects += 1)}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const skipped: SkippedMcpSetting[] = [];
  const { servers } = await loadMcpConfig(join(project, Object.keys(files)[0] as string), {
    env: {},
    onSkip: (setting) => skipped.push(setting),
    ...options,
  });
  return { servers, skipped, project };
}

const scratch = scratchFolder();

// https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
test('reads the file of VS Code: inputs, an envFile, variables, and comments', async () => {
  const { servers, skipped, project } = await load(
    {
      '.vscode/mcp.json': `{
        // Values that VS Code requests once.
        "inputs": [
          { "type": "promptString", "id": "weather-key", "description": "Weather API key", "password": true },
          { "type": "pickString", "id": "units", "description": "Units", "options": ["si", "us"], "default": "si" },
        ],
        "servers": {
          "weather": {
            "type": "stdio",
            "command": "node",
            "args": ["\${workspaceFolder}\${/}server.js", "--units=\${input:units}", "--name=\${workspaceFolderBasename}"],
            "env": { "API_KEY": "\${input:weather-key}", "LEVEL": "info" },
            "envFile": "\${workspaceFolder}/.env",
            "dev": { "watch": "src/**/*.ts", "debug": { "type": "node" } }
          },
          "remote": { "type": "http", "url": "https://weather.example.com/mcp", "headers": { "X-Key": "\${env:KEY}" } },
          "events": { "type": "sse", "url": "https://weather.example.com/events" }, /* until 2025 */
        },
      }`,
      '.env': 'REGION="eu west"\nLEVEL=debug\n# API_KEY=old\n',
    },
    { inputs: { 'weather-key': 's3cret' }, env: { KEY: 'k' } },
  );
  expect(servers).toStrictEqual({
    weather: {
      command: 'node',
      args: [`${project}${sep}server.js`, '--units=si', `--name=project${projects}`],
      env: { REGION: 'eu west', LEVEL: 'info', API_KEY: 's3cret' },
    },
    // No transport: VS Code falls back to HTTP+SSE, as the client does by default.
    remote: { url: 'https://weather.example.com/mcp', requestInit: { headers: { 'X-Key': 'k' } } },
    events: { url: 'https://weather.example.com/events', transport: 'sse' },
  });
  expect(skipped).toStrictEqual([{ server: 'weather', key: 'servers.weather.dev', reason: 'ignored' }]);
});

test('leaves out a server whose input has no value, and one that requires a sandbox', async () => {
  const { servers, skipped } = await load({
    '.vscode/mcp.json': `{
      "inputs": [{ "type": "promptString", "id": "key", "description": "Weather API key", "password": true }],
      "servers": {
        "weather": { "command": "node", "env": { "API_KEY": "\${input:key}" } },
        "boxed": { "command": "node", "sandboxEnabled": true, "sandbox": { "network": { "allowedDomains": [] } } },
        "plain": { "command": "node", "sandboxEnabled": false },
        "socket": { "type": "http", "url": "unix:///run/server.sock" }
      }
    }`,
  });
  expect(Object.keys(servers)).toEqual(['plain']);
  expect(skipped.map(({ key, error }) => [key, error?.code, error?.message.replace(/^.*mcp\.json /, '')])).toEqual([
    [
      'servers.weather',
      'MCP_CONFIG_VARIABLE_UNDEFINED',
      "needs the input 'key' (Weather API key) at servers.weather.env.API_KEY. Pass its value in the option `inputs`.",
    ],
    ['servers.boxed', 'MCP_CONFIG_INVALID', 'requires a sandbox at servers.boxed, which does not exist here.'],
    ['servers.socket', 'MCP_CONFIG_INVALID', 'is wrong: servers.socket.url must be an http(s) URL.'],
  ]);
});

// https://cursor.com/docs/mcp
test('reads the file of Cursor, and reports its static OAuth client', async () => {
  const { servers, skipped, project } = await load(
    {
      '.cursor/mcp.json': `{
        "mcpServers": {
          "local": {
            "type": "stdio",
            "command": "python",
            "args": ["\${workspaceFolder}/tools/server.py", "--home", "\${userHome}", "a\${pathSeparator}b"],
            "env": { "API_KEY": "\${env:API_KEY}" },
            "envFile": ".env"
          },
          "remote": {
            "url": "https://api.example.com/mcp",
            "headers": { "Authorization": "Bearer \${env:MY_TOKEN}" },
            "auth": { "CLIENT_ID": "\${env:ID}", "CLIENT_SECRET": "s3cret", "scopes": ["read"] }
          }
        }
      }`,
      '.env': 'REGION=eu',
    },
    { env: { API_KEY: 'k', MY_TOKEN: 't' } },
  );
  expect(servers).toStrictEqual({
    local: {
      command: 'python',
      args: [`${project}/tools/server.py`, '--home', home, `a${sep}b`],
      env: { API_KEY: 'k', REGION: 'eu' },
    },
    remote: { url: 'https://api.example.com/mcp', requestInit: { headers: { Authorization: 'Bearer t' } } },
  });
  expect(skipped).toStrictEqual([{ server: 'remote', key: 'mcpServers.remote.auth', reason: 'ignored' }]);
});

// https://docs.windsurf.com/windsurf/cascade/mcp
test('reads the file of Windsurf: serverUrl, disabled servers and tools, and values from files', async () => {
  const { servers, skipped, project } = await load(
    {
      'windsurf/mcp_config.json': `{
        "mcpServers": {
          "remote": { "serverUrl": "https://api.example.com/mcp", "headers": { "API_KEY": "Bearer \${env:AUTH_TOKEN}" } },
          "github": { "command": "npx", "args": ["-y", "server-github"], "disabledTools": ["delete_repository"] },
          "vault": { "command": "vault", "env": { "TOKEN": "\${file:${scratch}/token}" } },
          "off": { "command": "npx", "args": ["\${env:UNSET}"], "disabled": true }
        }
      }`,
      '../token': 's3cret\n',
    },
    { env: { AUTH_TOKEN: 't' } },
  );
  expect(project).toContain(scratch);
  expect(servers).toStrictEqual({
    remote: { url: 'https://api.example.com/mcp', requestInit: { headers: { API_KEY: 'Bearer t' } } },
    github: { command: 'npx', args: ['-y', 'server-github'], tools: { deny: ['delete_repository'] } },
    vault: { command: 'vault', env: { TOKEN: 's3cret' } },
  });
  expect(skipped).toStrictEqual([{ server: 'off', key: 'mcpServers.off', reason: 'disabled' }]);
});

// https://modelcontextprotocol.io/docs/develop/connect-local-servers
test('reads the file of Claude Desktop, next to its other settings', async () => {
  const { servers, skipped } = await load({
    'claude_desktop_config.json': `{
      "globalShortcut": "Ctrl+Space",
      "mcpServers": { "filesystem": { "command": "npx", "args": ["-y", "server-filesystem", "/home/me/Desktop"] } }
    }`,
  });
  expect(servers).toStrictEqual({
    filesystem: { command: 'npx', args: ['-y', 'server-filesystem', '/home/me/Desktop'] },
  });
  expect(skipped).toStrictEqual([]);
});

// https://code.claude.com/docs/en/mcp
test('reads the file of Claude Code: types, timeouts, and variables with defaults', async () => {
  const { servers, skipped } = await load(
    {
      '.mcp.json': `{
        "mcpServers": {
          "api": {
            "type": "http",
            "url": "\${API_BASE_URL:-https://api.example.com}/mcp",
            "headers": { "Authorization": "Bearer \${API_KEY}" },
            "timeout": 120000,
            "oauth": { "clientId": "id", "callbackPort": 8080 },
            "headersHelper": "./get-token.sh"
          },
          "db": { "type": "stdio", "command": "\${HOME}/bin/db", "args": ["--cache=\${CACHE:-/tmp}"], "env": {}, "timeout": 500 },
          "socket": { "type": "ws", "url": "https://api.example.com/ws" }
        }
      }`,
    },
    { env: { API_KEY: 'k', HOME: '/home/me' } },
  );
  expect(servers).toStrictEqual({
    api: {
      url: 'https://api.example.com/mcp',
      transport: 'http',
      requestInit: { headers: { Authorization: 'Bearer k' } },
      timeout: 120_000,
    },
    db: { command: '/home/me/bin/db', args: ['--cache=/tmp'], env: {} },
  });
  expect(skipped.map(({ key, reason }) => `${key} ${reason}`)).toEqual([
    'mcpServers.api.oauth ignored',
    'mcpServers.api.headersHelper ignored',
    'mcpServers.db.timeout ignored',
    'mcpServers.socket invalid',
  ]);
});

// https://zed.dev/docs/ai/mcp
test('reads the settings of Zed: context servers, also in the format before 2025-10, with comments', async () => {
  const { servers, skipped } = await load({
    '.zed/settings.json': `// Zed settings
    //
    // For information on how to configure Zed, see https://zed.dev/docs/configuring-zed
    {
      "theme": { "mode": "system" },
      "context_servers": {
        "local": { "source": "custom", "enabled": true, "command": "some-command", "args": ["a"], "env": {}, "timeout": 60000 },
        "nested": { "source": "custom", "command": { "path": "other-command", "args": ["b"], "env": { "A": "1" } } },
        "remote": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer <token>" } },
        "off": { "enabled": false, "command": "x" },
        // Installed by an extension, which knows the command.
        "mcp-server-github": { "source": "extension", "settings": { "github_personal_access_token": "s3cret" } },
      },
    }`,
  });
  expect(servers).toStrictEqual({
    local: { command: 'some-command', args: ['a'], env: {} },
    nested: { command: 'other-command', args: ['b'], env: { A: '1' } },
    remote: { url: 'https://example.com/mcp', requestInit: { headers: { Authorization: 'Bearer <token>' } } },
  });
  expect(skipped.map(({ key, reason }) => `${key} ${reason}`)).toEqual([
    // Its unit depends on the version of Zed.
    'context_servers.local.timeout ignored',
    'context_servers.off disabled',
    'context_servers.mcp-server-github invalid',
  ]);
});

// https://geminicli.com/docs/tools/mcp-server
test('reads the settings of Gemini CLI: httpUrl, lists of tools, $NAME, and its lists of servers', async () => {
  const { servers, skipped } = await load(
    {
      '.gemini/settings.json': `{
        "mcp": { "excluded": ["experimental"] },
        "mcpServers": {
          "python": {
            "command": "python",
            "args": ["-m", "server", "\${MODE:-fast}"],
            "env": { "API_KEY": "$MY_API_TOKEN", "URL": "http://\${HOST}:$PORT/" },
            "cwd": "./server-directory",
            "timeout": 30000,
            "trust": true,
            "includeTools": ["read", "write"],
            "excludeTools": ["write"]
          },
          "http": { "httpUrl": "https://api.example.com/mcp", "headers": { "Authorization": "Bearer $MY_API_TOKEN" } },
          "auto": { "url": "https://api.example.com/sse", "description": "For the docs", "authProviderType": "google_credentials" },
          "unset": { "command": "x", "env": { "KEY": "$UNSET" } },
          "experimental": { "command": "x" }
        }
      }`,
    },
    { env: { MY_API_TOKEN: 't', HOST: 'localhost', PORT: '80' } },
  );
  expect(servers).toStrictEqual({
    python: {
      command: 'python',
      args: ['-m', 'server', 'fast'],
      env: { API_KEY: 't', URL: 'http://localhost:80/' },
      cwd: './server-directory',
      timeout: 30_000,
      tools: { allow: ['read', 'write'], deny: ['write'] },
    },
    http: {
      url: 'https://api.example.com/mcp',
      transport: 'http',
      requestInit: { headers: { Authorization: 'Bearer t' } },
    },
    auto: { url: 'https://api.example.com/sse' },
  });
  expect(skipped.map(({ key, reason }) => `${key} ${reason}`)).toEqual([
    'mcpServers.python.trust ignored',
    'mcpServers.auto.authProviderType ignored',
    'mcpServers.unset invalid',
    'mcpServers.experimental disabled',
  ]);
});

test('starts only the servers that the settings of Gemini CLI allow', async () => {
  const { servers } = await load({
    '.gemini/settings.json': `{ "mcp": { "allowed": ["a"] }, "mcpServers": { "a": { "command": "x" }, "b": { "command": "x" } } }`,
  });
  expect(Object.keys(servers)).toEqual(['a']);
});

// https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers
test('reads the file of Copilot CLI: the type local, and the list of tools', async () => {
  const { servers, skipped } = await load({
    '.copilot/mcp-config.json': `{
      "mcpServers": {
        "all": { "type": "local", "command": "npx", "args": ["@playwright/mcp@latest"], "env": {}, "tools": ["*"] },
        "one": { "type": "http", "url": "https://api.example.com/mcp", "tools": ["search"] }
      }
    }`,
  });
  expect(servers).toStrictEqual({
    all: { command: 'npx', args: ['@playwright/mcp@latest'], env: {} },
    one: { url: 'https://api.example.com/mcp', transport: 'http', tools: { allow: ['search'] } },
  });
  expect(skipped).toEqual([]);
});

// https://developers.openai.com/codex/mcp
test('does not read the TOML of Codex, and says what to do', async () => {
  await expect(load({ '.codex/config.toml': '[mcp_servers.docs]\ncommand = "npx"\n' })).rejects.toMatchObject({
    code: 'MCP_CONFIG_INVALID',
    message: expect.stringMatching(/config\.toml is not JSON\. Parse it, and pass command, args, env and url/),
  });
});
