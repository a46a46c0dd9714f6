import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { AuthorizationResponseError } from 'oauth4webapi';
import { errors, Provider } from 'oidc-provider';
import { beginSignIn, endSignIn, type IdentityProvider, type SignIn } from './identity-providers.ts';

export interface OAuthProxyOptions {
  /** Origin of this authorization server, as clients reach it. Its port is the port that the server listens on, or 3001. */
  issuer: string;
  /** URL of the only MCP server that tokens are issued for. */
  resource: string;
  /** By the name in their redirect URI, `<issuer>/callback/<name>`. */
  providers: Record<string, IdentityProvider>;
}

/** Starts an authorization server with client registration, whose users sign in at providers without it. */
export async function startOAuthProxy({
  issuer,
  resource,
  providers,
}: OAuthProxyOptions): Promise<{ close(): Promise<void> }> {
  const provider = new Provider(issuer, {
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none' },
    scopes: ['openid', 'mcp'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    ttl: {
      AccessToken: 300,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: 300,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    findAccount: async (_context: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, wanted: string) => {
          if (wanted !== resource) throw new errors.InvalidTarget();
          return { scope: 'mcp', audience: resource, accessTokenTTL: 300, accessTokenFormat: 'jwt' };
        },
      },
    },
  });
  // The server that ends TLS tells the address by which it was reached.
  provider.proxy = issuer.startsWith('https:');
  const handle = provider.callback();
  const server = createServer(async (req, res) => {
    try {
      const url = new URL(`${issuer}${req.url}`);
      if (url.pathname.startsWith('/callback/')) returnToInteraction(url, res);
      else if (url.pathname.startsWith('/interaction/')) await interact(url, req, res);
      else await handle(req, res);
    } catch {
      res
        .writeHead(400, { 'content-type': 'text/plain' })
        .end('This sign-in is not valid (any more). Please start again.');
    }
  });
  await new Promise<void>((resolve) => server.listen(Number(new URL(issuer).port || 3001), '127.0.0.1', resolve));

  async function interact(url: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
    // Throws unless the cookie of this interaction comes along: another browser cannot continue it.
    const { uid, prompt, params, session, grantId, result } = await provider.interactionDetails(req, res);
    const [step, name = ''] = url.pathname.split('/').slice(3);
    const route = `${req.method} ${prompt.name} ${step ?? ''}`;
    const upstream = Object.hasOwn(providers, name) ? providers[name] : undefined;
    const redirectUri = `${issuer}/callback/${name}`;
    if (req.method === 'GET' && step === undefined) {
      const client = await provider.Client.find(String(params['client_id']));
      const choices =
        prompt.name === 'login'
          ? Object.entries(providers).map(([id, { label }]) => [`sign-in/${id}`, `Sign in with ${label}`] as const)
          : [['allow', 'Allow'] as const];
      res.setHeader('content-type', 'text/html; charset=utf-8');
      res.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
      res.end(
        page(client?.clientName ?? 'A program', String(params['redirect_uri']), `/interaction/${uid}`, [
          ...choices,
          ['deny', 'Cancel'],
        ]),
      );
    } else if (req.method === 'POST' && step === 'deny') {
      await provider.interactionFinished(req, res, { error: 'access_denied' });
    } else if (route === 'POST login sign-in' && upstream) {
      const signIn: SignIn = { name, state: `${uid}.${random()}`, verifier: random() };
      await provider.interactionResult(req, res, { signIn });
      res.writeHead(303, { location: (await beginSignIn(upstream, signIn, redirectUri)).href }).end();
    } else if (route === 'GET login callback' && upstream) {
      const signIn = result?.['signIn'] as SignIn | undefined;
      // A code of one provider must not arrive as that of another.
      if (signIn?.name !== name) throw new Error('This sign-in did not begin here.');
      await provider.interactionResult(req, res, {});
      const login = await endSignIn(upstream, signIn, url, redirectUri).then(
        (accountId) => ({ login: { accountId } }),
        (error: unknown) => {
          if (error instanceof AuthorizationResponseError) return { error: 'access_denied' };
          throw error;
        },
      );
      await provider.interactionFinished(req, res, login);
    } else if (route === 'POST consent allow' && session) {
      const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
      const grant =
        known ?? new provider.Grant({ accountId: session.accountId, clientId: String(params['client_id']) });
      grant.addOIDCScope('openid mcp');
      grant.addResourceScope(resource, 'mcp');
      await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } });
    } else {
      throw new Error('There is no such step.');
    }
  }

  return {
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Redirect URIs of providers are fixed, and the cookie of an interaction is sent to its own path only. */
function returnToInteraction({ pathname, search, searchParams }: URL, res: ServerResponse): void {
  const [uid] = searchParams.get('state')?.split('.') ?? [];
  if (uid === undefined || !/^[\w-]+$/.test(uid)) throw new Error('The state is not one of this server.');
  res.writeHead(303, { location: `/interaction/${uid}${pathname}${search}` }).end();
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

function page(
  client: string,
  redirectUri: string,
  path: string,
  choices: readonly (readonly [string, string])[],
): string {
  const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
  const form = ([step, label]: readonly [string, string]): string =>
    `<form method="post" action="${path}/${step}"><button>${escape(label)}</button></form>`;
  return `<!doctype html><title>Sign in</title>
<p>“${escape(client)}” wants to use the MCP server in your name. You will be returned to ${escape(redirectUri)}.</p>
${choices.map(form).join('\n')}`;
}
