import { createHash, randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import { serveHttp } from '../after-test.ts';

/** Settings that make the server fail in a test. */
export interface AuthorizationServerKnobs {
  /** Changes the metadata. */
  metadata?: (metadata: Record<string, unknown>) => Record<string, unknown>;
  /** Answers the token endpoint instead of the real thing; `false` leaves it to that. */
  token?: (form: URLSearchParams, res: ServerResponse) => boolean;
  /** The `iss` of the authorization response; `null` leaves it out. */
  iss?: string | null;
  /** Leaves the new refresh token out of a refresh. */
  keepsRefreshToken?: boolean;
}

export interface AuthorizationServer {
  issuer: string;
  http: Server;
  knobs: AuthorizationServerKnobs;
  /** Valid access tokens, with their scopes. */
  active: Map<string, string[]>;
  /** Every form that arrived at the token endpoint. */
  tokenRequests: URLSearchParams[];
  authorizations: (string | undefined)[];
  authorizeRequests: URLSearchParams[];
  registrations: Record<string, unknown>[];
  /** Whether a refresh token was used twice, which ends the whole family. */
  familyRevoked: boolean;
  /** Answers every further token request, as JSON. */
  answer(status: number, body: string): void;
}

/** An authorization server on loopback, until the test is over: PKCE, registration, rotation with reuse detection. Stores every request. */
export async function startAuthorizationServer(knobs: AuthorizationServerKnobs = {}): Promise<AuthorizationServer> {
  const codes = new Map<string, { challenge: string; scope: string }>();
  const refreshTokens = new Map<string, string>();
  const used = new Set<string>();
  const json = (res: ServerResponse, value: unknown, status = 200): void => {
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  const issue = (res: ServerResponse, scope: string, refreshToken: string | undefined): void => {
    const access = randomUUID();
    self.active.set(access, scope.split(' '));
    if (refreshToken !== undefined) refreshTokens.set(refreshToken, scope);
    json(res, {
      access_token: access,
      token_type: 'Bearer',
      expires_in: 3600,
      scope,
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    });
  };
  const grant = (form: URLSearchParams, res: ServerResponse): void => {
    if (form.get('grant_type') === 'client_credentials') return issue(res, form.get('scope') ?? 'mcp:read', undefined);
    if (form.get('grant_type') === 'authorization_code') {
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const proof = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (code?.challenge !== proof) return json(res, { error: 'invalid_grant' }, 400);
      return issue(res, code.scope, randomUUID());
    }
    const presented = form.get('refresh_token') ?? '';
    const scope = refreshTokens.get(presented);
    if (scope === undefined || self.familyRevoked || used.has(presented)) {
      if (used.has(presented)) self.familyRevoked = true;
      return json(res, { error: 'invalid_grant', error_description: `unknown ${presented}` }, 400);
    }
    if (self.knobs.keepsRefreshToken) return issue(res, scope, undefined);
    used.add(presented);
    return issue(res, scope, randomUUID());
  };
  const { http, origin: issuer } = await serveHttp(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    const url = new URL(req.url ?? '/', self.issuer);
    if (url.pathname === '/.well-known/oauth-authorization-server') {
      const metadata = {
        issuer: self.issuer,
        authorization_endpoint: `${self.issuer}/authorize`,
        token_endpoint: `${self.issuer}/token`,
        registration_endpoint: `${self.issuer}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
        authorization_response_iss_parameter_supported: true,
      };
      return json(res, self.knobs.metadata?.(metadata) ?? metadata);
    }
    if (url.pathname === '/register') {
      const registration = JSON.parse(body) as Record<string, unknown>;
      self.registrations.push(registration);
      return json(res, { ...registration, client_id: `client-${self.registrations.length}` }, 201);
    }
    if (url.pathname === '/authorize') {
      self.authorizeRequests.push(url.searchParams);
      const code = randomUUID();
      const challenge = url.searchParams.get('code_challenge') ?? '';
      codes.set(code, { challenge, scope: url.searchParams.get('scope') ?? '' });
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      const iss = self.knobs.iss === undefined ? self.issuer : self.knobs.iss;
      if (iss !== null) back.searchParams.set('iss', iss);
      return void res.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/token') {
      const form = new URLSearchParams(body);
      self.tokenRequests.push(form);
      self.authorizations.push(req.headers.authorization);
      if (!self.knobs.token?.(form, res)) grant(form, res);
      return;
    }
    return void res.writeHead(404).end();
  });
  // A test that waits for the machine must not find its idle connection closed.
  http.keepAliveTimeout = 600_000;
  const self: AuthorizationServer = {
    issuer,
    http,
    knobs,
    active: new Map(),
    tokenRequests: [],
    authorizations: [],
    authorizeRequests: [],
    registrations: [],
    familyRevoked: false,
    answer: (status, body) => {
      self.knobs.token = (_form, res) => {
        res.writeHead(status, { 'content-type': 'application/json' }).end(body);
        return true;
      };
    },
  };
  return self;
}
