// The samples of the specification about OAuth, with addresses of servers that run here. They are kept as they stand, even where
// our own code would be written otherwise.
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { createTool as createV0Tool } from '@quiver/core/compat';
import { createTool } from '@quiver/core/tools';
import {
  createIntrospectionValidator,
  createOAuthMiddleware,
  createSimpleTokenProvider,
  createStaticTokenValidator,
  finishAuthorization,
  MCPClient,
  MCPOAuthClientProvider,
  MCPServer,
  type OAuthStorage,
} from '@quiver/mcp';
import { describe, expect, test, vi } from 'vitest';
import { afterTest, serveHttp } from '../../test/after-test.ts';
import { z } from 'zod';
import { startAuthorizationServer, type AuthorizationServer } from '../../test/oauth/authorization-server.ts';
import { startProtectedServer, type ProtectedServer } from '../../test/oauth/protected-server.ts';
import { openSession, rpc, send } from '../../test/clients/wire.ts';
import { readCallback } from '../../test/oauth/oauth-stage.ts';

/** An MCP server that knows the tokens of an authorization server. */
async function protect(): Promise<{ as: AuthorizationServer; mcp: ProtectedServer }> {
  const as = await startAuthorizationServer();
  const mcp = await startProtectedServer({
    authorizationServers: [as.issuer],
    validateToken: (token) => ({ valid: as.active.has(token), subject: 'ada' }),
  });
  return { as, mcp };
}

/** Approves on the sign-in page, as a user does. */
async function agree(page: URL): Promise<ReturnType<typeof readCallback>> {
  const answer = await fetch(page, { redirect: 'manual' });
  return readCallback(new URL(String(answer.headers.get('location'))));
}

describe('OAuth Authentication', () => {
  test('the provider of the sample prints the page, and its client serves once the user has agreed', async () => {
    const { mcp } = await protect();
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    afterTest(() => log.mockRestore());

    // Create an OAuth provider
    const oauthProvider = new MCPOAuthClientProvider({
      redirectUrl: 'http://localhost:3000/oauth/callback',
      clientMetadata: {
        redirect_uris: ['http://localhost:3000/oauth/callback'],
        client_name: 'My MCP Client',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
      onRedirectToAuthorization: (url) => {
        // Handle authorization redirect (open browser, redirect response, etc.)
        // oxlint-disable-next-line no-console
        console.log(`Please visit: ${url}`);
      },
    });

    // Use the provider with MCPClient
    const client = new MCPClient({
      servers: {
        protectedServer: {
          url: new URL(mcp.url),
          authProvider: oauthProvider,
        },
      },
    });
    afterTest(() => client.disconnect());

    await expect(client.listTools()).rejects.toThrow(/sign in/);
    const [line] = log.mock.calls.flat().map(String);
    expect(line).toMatch(/^Please visit: http/);
    const page = new URL(String(line).slice('Please visit: '.length));
    await finishAuthorization({ provider: oauthProvider, serverUrl: mcp.url, callback: await agree(page) });
    expect(Object.keys(await client.listTools())).toContain('protectedServer_whoami');
  });

  test('Quick Token Provider', async () => {
    const { as, mcp } = await protect();
    as.active.set('your-access-token', []);

    const provider = createSimpleTokenProvider('your-access-token', {
      redirectUrl: 'http://localhost:3000/callback',
      clientMetadata: {
        redirect_uris: ['http://localhost:3000/callback'],
        client_name: 'Test Client',
      },
    });

    const client = new MCPClient({
      servers: {
        testServer: {
          url: new URL(mcp.url),
          authProvider: provider,
        },
      },
    });
    afterTest(() => client.disconnect());

    expect(Object.keys(await client.listTools())).toContain('testServer_whoami');
  });

  test('Custom Token Storage: users share a table, and find their tokens after a restart', async () => {
    interface Database {
      query(sql: string, values: string[]): Promise<{ value: string }[]>;
    }

    class DatabaseOAuthStorage implements OAuthStorage {
      private db: Database;
      private userId: string;

      constructor(db: Database, userId: string) {
        this.db = db;
        this.userId = userId;
      }

      async set(key: string, value: string): Promise<void> {
        await this.db.query(
          'INSERT INTO oauth_tokens (user_id, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = ?',
          [this.userId, key, value, value],
        );
      }

      async get(key: string): Promise<string | undefined> {
        const result = await this.db.query('SELECT value FROM oauth_tokens WHERE user_id = ? AND key = ?', [
          this.userId,
          key,
        ]);
        return result?.[0]?.value;
      }

      async delete(key: string): Promise<void> {
        await this.db.query('DELETE FROM oauth_tokens WHERE user_id = ? AND key = ?', [this.userId, key]);
      }
    }

    const sqlite = new DatabaseSync(':memory:');
    sqlite.exec('CREATE TABLE oauth_tokens (user_id TEXT, key TEXT, value TEXT, PRIMARY KEY (user_id, key))');
    const db: Database = {
      query: async (sql, values) => sqlite.prepare(sql).all(...values) as unknown as { value: string }[],
    };
    afterTest(() => sqlite.close());
    const { mcp } = await protect();
    let page: URL | undefined;
    const start = (userId: string): { provider: MCPOAuthClientProvider; client: MCPClient } => {
      const provider = new MCPOAuthClientProvider({
        redirectUrl: 'http://localhost:3000/callback',
        clientMetadata: { redirect_uris: ['http://localhost:3000/callback'] },
        storage: new DatabaseOAuthStorage(db, userId),
        onRedirectToAuthorization: (url) => void (page = url),
      });
      const client = new MCPClient({
        id: crypto.randomUUID(),
        servers: { it: { url: mcp.url, authProvider: provider } },
      });
      afterTest(() => client.disconnect());
      return { provider, client };
    };

    const first = start('user-123');
    await expect(first.client.listTools()).rejects.toThrow(/sign in/);
    await finishAuthorization({ provider: first.provider, serverUrl: mcp.url, callback: await agree(page as URL) });
    await first.client.listTools();

    expect(Object.keys(await start('user-123').client.listTools())).toContain('it_whoami');
    await expect(start('user-456').client.listTools()).rejects.toThrow(/sign in/);
  });
});

describe('OAuth Protection', () => {
  test('the server of the sample serves metadata, refuses, and serves the allowed token', async () => {
    const mcpServer = new MCPServer({
      id: 'protected-server',
      name: 'Protected MCP Server',
      version: '1.0.0',
      tools: {
        ping: createTool({ id: 'ping', description: 'Answers.', execute: async () => 'pong' }),
      },
    });

    // Create OAuth middleware
    const oauthMiddleware = createOAuthMiddleware({
      oauth: {
        resource: 'https://mcp.example.com/mcp',
        authorizationServers: ['https://auth.example.com'],
        scopesSupported: ['mcp:read', 'mcp:write'],
        resourceName: 'My Protected MCP Server',
        validateToken: createStaticTokenValidator(['allowed-token-1']),
      },
      mcpPath: '/mcp',
    });

    // Create HTTP server with OAuth protection
    const httpServer = http.createServer(async (req, res) => {
      const url = new URL(req.url || '', 'https://mcp.example.com');

      // Apply OAuth middleware first
      const result = await oauthMiddleware(req, res, url);
      if (!result.proceed) return; // Middleware handled response (401, metadata, etc.)

      // Token is valid, proceed to MCP handler
      await mcpServer.startHTTP({ url, httpPath: '/mcp', req, res });
    });

    httpServer.listen(0);
    afterTest(
      () => mcpServer.close({ grace: 100 }),
      () => httpServer.close(),
    );
    const origin = `http://localhost:${(httpServer.address() as AddressInfo).port}`;

    const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource`);
    expect(await metadata.json()).toEqual({
      resource: 'https://mcp.example.com/mcp',
      authorization_servers: ['https://auth.example.com'],
      scopes_supported: ['mcp:read', 'mcp:write'],
      bearer_methods_supported: ['header'],
      resource_name: 'My Protected MCP Server',
    });
    const refused = await fetch(`${origin}/mcp`, { method: 'POST', body: '{}' });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'),
    ]);
    const authorization = { authorization: 'Bearer allowed-token-1' };
    const headers = { ...authorization, ...(await openSession(`${origin}/mcp`, authorization)) };
    const { json } = await send(`${origin}/mcp`, { headers, body: rpc('tools/call', { name: 'ping' }) });
    expect(json.result.content).toEqual([{ type: 'text', text: 'pong' }]);
  });

  test('Token Validation by introspection', async () => {
    const forms: string[] = [];
    const { origin } = await serveHttp(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += String(chunk);
      forms.push(`${req.headers.authorization} ${body}`);
      const isActive = new URLSearchParams(body).get('token') === 'good';
      res.end(JSON.stringify({ active: isActive, aud: 'https://mcp.example.com/mcp', sub: 'ada', scope: 'mcp:read' }));
    });

    // Option 1: Token introspection (RFC 7662)
    const middleware = createOAuthMiddleware({
      oauth: {
        resource: 'https://mcp.example.com/mcp',
        authorizationServers: ['https://auth.example.com'],
        validateToken: createIntrospectionValidator(`${origin}/oauth/introspect`, {
          clientId: 'mcp-server',
          clientSecret: 'secret',
        }),
      },
    });

    expect(await outcomeOf(middleware, 'good')).toMatchObject({ proceed: true, subject: 'ada' });
    expect(await outcomeOf(middleware, 'bad')).toMatchObject({ proceed: false, status: 401 });
    expect(forms[0]).toBe(
      `Basic ${Buffer.from('mcp-server:secret').toString('base64')} token=good&token_type_hint=access_token`,
    );
  });

  test('Token Validation by a custom function', async () => {
    const verifyJWT = async (token: string): Promise<{ scope?: string; sub: string } | null> =>
      token === 'good' ? { scope: 'mcp:read mcp:write', sub: 'ada' } : null;

    // Option 2: Custom validation (JWT, database lookup, etc.)
    const customMiddleware = createOAuthMiddleware({
      oauth: {
        resource: 'https://mcp.example.com/mcp',
        authorizationServers: ['https://auth.example.com'],
        validateToken: async (token, resource) => {
          expect(resource).toBe('https://mcp.example.com/mcp');
          const decoded = await verifyJWT(token);
          if (!decoded) {
            return { valid: false, error: 'invalid_token' };
          }
          return {
            valid: true,
            scopes: decoded.scope?.split(' ') || [],
            subject: decoded.sub,
          };
        },
      },
    });

    expect(await outcomeOf(customMiddleware, 'good')).toMatchObject({ proceed: true, subject: 'ada' });
    expect(await outcomeOf(customMiddleware, 'bad')).toMatchObject({ proceed: false, status: 401 });
  });
});

/** Outcome and subject of a request with a token. */
async function outcomeOf(
  middleware: ReturnType<typeof createOAuthMiddleware>,
  token: string,
): Promise<{ proceed: boolean; status: number; subject: unknown }> {
  let proceed = false;
  let subject: unknown;
  const { origin } = await serveHttp(
    async (req: IncomingMessage & { auth?: { extra?: Record<string, unknown> } }, res) => {
      ({ proceed } = await middleware(req, res, new URL(req.url ?? '', 'https://mcp.example.com')));
      subject = req.auth?.extra?.['subject'];
      if (proceed) res.end();
    },
  );
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await fetch(`${origin}/mcp`, { method: 'POST', headers, body: '{}' });
  return { proceed, status, subject };
}

describe('Authentication Context of the v0 API', () => {
  test('a tool passes on the token of its caller, and reports a missing one', async () => {
    const { origin: base } = await serveHttp((req, res) =>
      res.end(JSON.stringify({ seen: req.headers.authorization })),
    );

    const getData = createV0Tool({
      id: 'get-data',
      description: 'Fetches data of the caller.',
      inputSchema: z.object({}),
      execute: async (_call, options) => {
        if (!options.extra?.authInfo?.token) {
          return 'Authentication required';
        }

        // Use the auth token
        const response = await fetch(`${base}/api/data`, {
          headers: { Authorization: `Bearer ${options.extra.authInfo.token}` },
          signal: options.extra.signal ?? null,
        });

        return response.json();
      },
    });
    const server = new MCPServer({ name: 's', version: '1', tools: { getData } });
    const validateAuthToken = (header: string | undefined): object | undefined =>
      header === undefined ? undefined : { token: header.replace('Bearer ', ''), clientId: 'app' };
    const httpServer = http.createServer(async (req: IncomingMessage & { auth?: object | undefined }, res) => {
      // Add auth middleware
      req.auth = validateAuthToken(req.headers.authorization);

      // Then pass to MCP server
      await server.startHTTP({ url: new URL(req.url ?? '', 'http://localhost'), httpPath: '/mcp', req, res });
    });
    await new Promise<void>((resolve) => httpServer.listen(0, resolve));
    afterTest(
      () => server.close({ grace: 100 }),
      () => httpServer.close(),
    );
    const url = `http://localhost:${(httpServer.address() as AddressInfo).port}/mcp`;
    const callAs = async (headers: Record<string, string>): Promise<string> => {
      const all = { ...headers, ...(await openSession(url, headers)) };
      return (await send(url, { headers: all, body: rpc('tools/call', { name: 'getData' }) })).json.result.content[0]
        .text;
    };
    expect(await callAs({})).toBe('Authentication required');
    expect(JSON.parse(await callAs({ authorization: 'Bearer t0ken' }))).toEqual({ seen: 'Bearer t0ken' });
  });
});
