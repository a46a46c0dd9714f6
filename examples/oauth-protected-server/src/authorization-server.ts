import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type ClientMetadata } from 'oidc-provider';

export interface AuthorizationServer {
  issuer: string;
  close(): Promise<void>;
}

/**
 * Starts an in-memory authorization server for one MCP server on a loopback address: PKCE, client registration, refresh token rotation,
 * JWTs. Its users sign in without a password, by the parameter `login_hint` of the page, and approve the scopes of each client.
 *
 * @param clients - those that are registered by hand
 */
export async function startAuthorizationServer(
  resource: string,
  clients: ClientMetadata[] = [],
): Promise<AuthorizationServer> {
  let handle: ReturnType<Provider['callback']> | undefined;
  const server = createServer(async (req, res) => {
    await (req.url?.startsWith('/interaction/') ? askUser(provider, req, res) : handle?.(req, res));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients,
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none' },
    scopes: ['openid', 'notes:read', 'notes:write'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      ClientCredentials: 60,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
    cookies: { keys: ['for this run only'] },
    findAccount: async (_context: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, wanted: string) => {
          if (wanted !== resource) throw new Error(`This authorization server does not issue tokens for ${wanted}.`);
          const scope = 'notes:read notes:write';
          return { scope, audience: resource, accessTokenTTL: 60, accessTokenFormat: 'jwt' };
        },
      },
    },
  });
  handle = provider.callback();
  return {
    issuer,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function askUser(provider: Provider, ...[req, res]: Parameters<ReturnType<Provider['callback']>>): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  const accountId = session?.accountId ?? String(params['login_hint'] ?? 'ada');
  if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId } });
  const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details as {
    missingOIDCScope?: string[];
    missingResourceScopes?: Record<string, string[]>;
  };
  if (req.method !== 'POST') {
    const client = await provider.Client.find(String(params['client_id']));
    const wanted = new Set([...missingOIDCScope, ...Object.values(missingResourceScopes).flat()]);
    res.setHeader('content-type', 'text/html; charset=utf-8');
    res.end(consentPage(accountId, client?.clientName ?? 'A program', [...wanted]));
    return;
  }
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = known ?? new provider.Grant({ accountId, clientId: String(params['client_id']) });
  grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(req, res, { consent }, { mergeWithLastSubmission: true });
}

function consentPage(user: string, client: string, scopes: string[]): string {
  const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
  return `<!doctype html><title>Notes</title><h1>Hello, ${escape(user)}</h1>
<p>“${escape(client)}” asks for: ${escape(scopes.join(', '))}.</p>
<form method="post"><button>Allow</button></form>`;
}
