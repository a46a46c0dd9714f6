import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export interface AuthorizationServer {
  issuer: string;
  close(): Promise<void>;
}

/**
 * A real authorization server for one MCP server, on this machine and in memory: PKCE, registration, rotation, JWTs. Its only user, ada,
 * signs in and agrees by opening the page; a real one would ask.
 */
export async function startAuthorizationServer(resource: string): Promise<AuthorizationServer> {
  let handle: ReturnType<Provider['callback']> | undefined;
  const server = createServer(async (req, res) => {
    await (req.url?.startsWith('/interaction/') ? agree(provider, req, res) : handle?.(req, res));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none' },
    scopes: ['openid', 'notes:read', 'notes:write'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
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
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, wanted: string) => {
          if (wanted !== resource) throw new Error(`Nobody here issues tokens for ${wanted}.`);
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

async function agree(provider: Provider, ...[req, res]: Parameters<ReturnType<Provider['callback']>>): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId: 'ada' } });
  const grant =
    grantId === undefined
      ? new provider.Grant({ accountId: session?.accountId ?? 'ada', clientId: params.client_id })
      : await provider.Grant.find(grantId);
  if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  return provider.interactionFinished(
    req,
    res,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}
