import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IdentityProvider } from '../src/identity-providers.ts';

export interface StandIn {
  provider: IdentityProvider;
  /** Tokens that it issued. */
  tokens: string[];
  close(): Promise<void>;
}

/**
 * Starts an identity provider that knows one client with one redirect URI and signs its user in without a question. It compares what the
 * documents of GitHub and Google say that they compare: redirect URI, secret, PKCE verifier, and that a code is used once.
 */
export async function startStandIn(
  redirectUri: string,
  subject: 'id' | 'sub',
  user: Record<string, unknown>,
): Promise<StandIn> {
  const [clientId, clientSecret] = [randomUUID(), randomUUID()];
  const challenges = new Map<string, string | null>();
  const tokens: string[] = [];
  const http = createServer(async (req, res) => {
    const url = new URL(req.url ?? '', 'http://127.0.0.1');
    const respond = (status: number, body: object): void =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/authorize') {
      const query = url.searchParams;
      const isKnown = query.get('client_id') === clientId && query.get('redirect_uri') === redirectUri;
      if (!isKnown || query.get('code_challenge_method') !== 'S256') return respond(400, { error: 'invalid_request' });
      const code = randomUUID();
      challenges.set(code, query.get('code_challenge'));
      const answer = new URLSearchParams({ code, state: query.get('state') ?? '' });
      res.writeHead(302, { location: `${redirectUri}?${answer}` }).end();
    } else if (url.pathname === '/token') {
      const form = new URLSearchParams(Buffer.concat(await req.toArray()).toString());
      const code = form.get('code') ?? '';
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isKnown = form.get('client_secret') === clientSecret && form.get('redirect_uri') === redirectUri;
      const isRight = challenges.get(code) === challenge;
      challenges.delete(code);
      if (!isKnown || !isRight) return respond(400, { error: 'invalid_grant' });
      const token = randomUUID();
      tokens.push(token);
      respond(200, { access_token: token, token_type: 'bearer', scope: 'read:user' });
    } else {
      const token = req.headers.authorization?.replace('Bearer ', '') ?? '';
      respond(tokens.includes(token) ? 200 : 401, tokens.includes(token) ? user : {});
    }
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    userinfo_endpoint: `${origin}/userinfo`,
  };
  return {
    provider: { label: 'Stand-in', server, clientId, clientSecret, scope: 'read:user', subject },
    tokens,
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
