import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export interface OidcServer {
  issuer: string;
  /** Grant types that arrived at the token endpoint, in order. */
  grants: string[];
  close(): Promise<void>;
}

export interface OidcServerOptions {
  /** The identifiers of MCP servers that tokens may be issued for. */
  resources: () => readonly string[];
  /** Lifetime of the first access token in seconds. Refreshed tokens live for an hour. */
  accessTokenTtl: number;
  format: 'jwt' | 'opaque';
}

/**
 * A real authorization server on loopback: discovery, PKCE, dynamic registration, resource indicators, rotation with reuse
 * detection, introspection, revocation, JWKS. Its user `ada` signs in and agrees by herself.
 */
export async function startOidcServer({ resources, accessTokenTtl, format }: OidcServerOptions): Promise<OidcServer> {
  let handle: ReturnType<Provider['callback']> | undefined;
  const grants: string[] = [];
  const server = createServer(async (req, res) => {
    if (req.url?.startsWith('/interaction/')) return interact(provider, req, res);
    return handle?.(req, res);
  });
  // A test that waits for the machine must not find its idle connection closed.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const introspector = { client_id: 'mcp-server', client_secret: 'secret', redirect_uris: [], response_types: [] };
  const provider = new Provider(issuer, {
    clients: [
      { ...introspector, grant_types: [] },
      {
        client_id: 'bot',
        client_secret: 'bot-secret',
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
    scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    cookies: { keys: ['test'] },
    findAccount: async (_context: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_context: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => {
          if (!resources().includes(resource)) throw new Error(`Unknown resource ${resource}`);
          return {
            scope: 'mcp:read mcp:write',
            audience: resource,
            accessTokenTTL: grants.includes('refresh_token') ? 3600 : accessTokenTtl,
            accessTokenFormat: format,
          };
        },
      },
    },
  });
  const callback = provider.callback();
  handle = async (req, res) => {
    if (req.url === '/token') {
      req.on('data', (chunk: Buffer) => grants.push(new URLSearchParams(chunk.toString()).get('grant_type') ?? ''));
      req.pause();
    }
    return callback(req, res);
  };
  return {
    issuer,
    grants,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function interact(
  provider: Provider,
  ...[req, res]: Parameters<ReturnType<Provider['callback']>>
): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId: 'ada' } });
  const accountId = session?.accountId ?? 'ada';
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = known ?? new provider.Grant({ accountId, clientId: String(params['client_id']) });
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details as {
    missingOIDCScope?: string[];
    missingResourceScopes?: Record<string, string[]>;
  };
  grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  const consent = { consent: { grantId: await grant.save() } };
  return provider.interactionFinished(req, res, consent, { mergeWithLastSubmission: true });
}

/** A browser with cookies, which follows redirects until it would leave the authorization server. */
export async function visit(page: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = page;
  for (let hop = 0; hop < 10; hop += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const mark = pair.indexOf('=');
      cookies.set(pair.slice(0, mark), pair.slice(mark + 1));
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${url.href} answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
    if (url.origin !== page.origin) return url;
  }
  throw new Error('Too many redirects.');
}
