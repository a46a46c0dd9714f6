import {
  createOAuthFetch,
  finishAuthorization,
  type FinishAuthorizationOptions,
  InMemoryOAuthStorage,
  MCPOAuthClientProvider,
  type MCPOAuthClientProviderOptions,
} from '@quiver/mcp/auth';
import { expect } from 'vitest';
import {
  startAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerKnobs,
} from './authorization-server.ts';
import { startProtectedServer, type ProtectedServer } from './protected-server.ts';
import { initializeParams, modern, rpc } from '../clients/wire.ts';

export const redirectUrl = 'http://localhost:3999/callback';
export const clientMetadata = { redirect_uris: [redirectUrl], client_name: 'Test' };

export interface Begun {
  user: MCPOAuthClientProvider;
  fetch: ReturnType<typeof createOAuthFetch>;
}

export interface Stage {
  as: AuthorizationServer;
  mcp: ProtectedServer;
  /** Sign-in pages that were shown. */
  shown: URL[];
  storage: InMemoryOAuthStorage;
  provider(options?: Partial<MCPOAuthClientProviderOptions>): MCPOAuthClientProvider;
  call(fetch: ReturnType<typeof createOAuthFetch>, tool?: string): Promise<Response>;
  /** The same with a new `fetch` of a provider. */
  callWith(provider: MCPOAuthClientProvider, tool?: string): Promise<Response>;
  /** Creates a provider, and sends a call without tokens, which shows its sign-in page. */
  begin(options?: Partial<MCPOAuthClientProviderOptions>): Promise<Begun>;
  /** Does what a user does on the sign-in page, and finishes. */
  signIn(provider: MCPOAuthClientProvider, change?: (callback: URL) => void): Promise<void>;
}

/** Reads what the redirect of a sign-in page contains. */
export function readCallback({ searchParams }: URL): FinishAuthorizationOptions['callback'] {
  const [code = '', state, iss] = ['code', 'state', 'iss'].map((name) => searchParams.get(name) ?? undefined);
  return { code, state, ...(iss !== undefined && { iss }) };
}

/** A protected MCP server and its authorization server, both real and on loopback. */
export async function setUp(knobs: AuthorizationServerKnobs = {}): Promise<Stage> {
  const as = await startAuthorizationServer(knobs);
  const mcp = await startProtectedServer({
    authorizationServers: [as.issuer],
    requiredScopes: ['mcp:read'],
    toolScopes: { secret: ['mcp:write'] },
    validateToken: (token) => {
      const scopes = as.active.get(token);
      return scopes ? { valid: true, subject: 'ada', scopes } : { valid: false, error: 'invalid_token' };
    },
  });
  const shown: URL[] = [];
  const storage = new InMemoryOAuthStorage();
  const stage: Stage = {
    as,
    mcp,
    shown,
    storage,
    provider: (options = {}) =>
      new MCPOAuthClientProvider({
        redirectUrl,
        clientMetadata,
        storage,
        onRedirectToAuthorization: (url) => void shown.push(url),
        ...options,
      }),
    call: (fetch, tool) => {
      const accepted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const request =
        tool === undefined
          ? { headers: {}, body: rpc('initialize', initializeParams) }
          : modern('tools/call', { name: tool, arguments: {} });
      const headers = { ...accepted, ...(request.headers as Record<string, string>) };
      return fetch(mcp.url, { method: 'POST', headers, body: JSON.stringify(request.body) });
    },
    callWith: (provider, tool) => stage.call(createOAuthFetch({ provider, serverUrl: mcp.url }), tool),
    begin: async (options) => {
      const user = stage.provider(options);
      const fetch = createOAuthFetch({ provider: user, serverUrl: mcp.url });
      await expect(stage.call(fetch)).rejects.toMatchObject({ code: 'OAUTH_AUTHORIZATION_REQUIRED' });
      return { user, fetch };
    },
    signIn: async (provider, change) => {
      const page = shown.at(-1);
      if (!page) throw new Error('No sign-in page was shown.');
      const answer = await fetch(page, { redirect: 'manual' });
      const callback = new URL(String(answer.headers.get('location')));
      change?.(callback);
      await finishAuthorization({ provider, serverUrl: mcp.url, callback: readCallback(callback) });
    },
  };
  return stage;
}

/** The same, with a user who has signed in. */
export async function setUpSignedIn(knobs: AuthorizationServerKnobs = {}): Promise<Stage & Begun> {
  const stage = await setUp(knobs);
  const { user, fetch } = await stage.begin();
  await stage.signIn(user);
  expect((await stage.call(fetch)).status).toBe(200);
  return { ...stage, user, fetch };
}
