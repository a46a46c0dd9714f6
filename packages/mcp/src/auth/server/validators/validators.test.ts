import type { IncomingMessage, ServerResponse } from 'node:http';
import { createIntrospectionValidator, createJwtValidator, createStaticTokenValidator } from '@quiver/mcp/auth';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../../../../test/error-of.ts';
import { serveHttp } from '../../../../test/after-test.ts';

const resource = 'https://mcp.example.com/mcp';
const issuer = 'https://auth.example.com';
const seconds = (): number => Math.floor(Date.now() / 1000);
const keys = await generateKeyPair('ES256');
const jwk: JWK = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256' };
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** An endpoint on a loopback address with a configurable response and a count of its requests. */
async function endpoint(handle: (req: IncomingMessage, res: ServerResponse, body: string) => void) {
  const bodies: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const { origin } = await serveHttp(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    bodies.push(body);
    authorizations.push(req.headers.authorization);
    handle(req, res, body);
  });
  return { url: `${origin}/`, bodies, authorizations };
}

function json(res: ServerResponse, value: unknown, status = 200): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

describe('createStaticTokenValidator', () => {
  it('accepts whole tokens only, with their subject', async () => {
    const held = { cacheFor: Number.POSITIVE_INFINITY };
    const validate = createStaticTokenValidator([
      'alpha',
      { token: 'beta', subject: 'bob', scopes: ['x'], claims: { tenant: 'acme' } },
    ]);
    expect(await validate('alpha', resource)).toEqual({ valid: true, scopes: ['mcp:read', 'mcp:write'], ...held });
    expect(await validate('beta', resource)).toEqual({
      valid: true,
      scopes: ['x'],
      subject: 'bob',
      claims: { tenant: 'acme' },
      requestContext: { tenant: 'acme' },
      ...held,
    });
    for (const token of ['', 'alph', 'alphaa', 'Alpha', 'alphabeta']) {
      expect(await validate(token, resource)).toEqual({
        valid: false,
        error: 'invalid_token',
        errorDescription: 'Token not recognized',
      });
    }
  });

  it('rejects an empty list, an empty token, and what is not a list', () => {
    for (const tokens of [[], [''], ['ok', ' '], { token: 'ok' } as never]) {
      expect(() => createStaticTokenValidator(tokens)).toThrow(errorOf('OAUTH_TOKENS_MISSING'));
    }
  });
});

describe('createIntrospectionValidator', () => {
  const good = { active: true, aud: resource, sub: 'ada', scope: 'a b', client_id: 'app' };
  const introspect = async (answer: unknown, options: Parameters<typeof createIntrospectionValidator>[1] = {}) => {
    const { url } = await endpoint((_req, res) => json(res, answer));
    return createIntrospectionValidator(url, { logger: quiet, ...options })('t', resource);
  };

  it('returns subject, scopes, client, expiry and claims of an active token', async () => {
    const exp = seconds() + 60;
    expect(await introspect({ ...good, exp })).toEqual({
      valid: true,
      subject: 'ada',
      scopes: ['a', 'b'],
      clientId: 'app',
      expiresAt: exp,
      claims: { ...good, exp },
    });
  });

  it('sends form-encoded credentials, the token and its kind', async () => {
    const { url, bodies, authorizations } = await endpoint((_req, res) => json(res, good));
    await createIntrospectionValidator(url, { clientId: 'a:b c', clientSecret: 'ü%' })('tok', resource);
    expect(bodies).toEqual(['token=tok&token_type_hint=access_token']);
    expect(Buffer.from(String(authorizations[0]).slice(6), 'base64').toString()).toBe('a%3Ab+c:%C3%BC%25');
  });

  it.each([
    ['expired', { exp: seconds() - 31 }],
    ['not yet valid', { nbf: seconds() + 60 }],
    ['with an expiry that is no number', { exp: '9999999999' }],
    ['for nobody', { aud: undefined }],
    ['for another', { aud: 'https://other.example/mcp' }],
    ['for others', { aud: ['https://other.example', `${resource}2`] }],
    ['for a longer path', { aud: `${resource}2` }],
    ['for a trailing slash', { aud: `${resource}/` }],
    ['for the default port', { aud: 'https://mcp.example.com:443/mcp' }],
    ['with active as text', { active: 'true' }],
    ['with active as a number', { active: 1 }],
    ['that is inactive', { active: false }],
    ['with a scope list', { scope: ['a'] }],
    ['that is not a bearer token', { token_type: 'DPoP' }],
  ])('refuses a token %s', async (_what, change) => {
    expect(await introspect({ ...good, ...change })).toMatchObject({ valid: false, error: 'invalid_token' });
  });

  it('accepts what the rules allow: skew, one of several audiences, the issuer', async () => {
    expect(await introspect({ ...good, exp: seconds() - 20, nbf: seconds() + 20 })).toMatchObject({ valid: true });
    expect(await introspect({ ...good, aud: ['x', resource] })).toMatchObject({ valid: true });
    expect(await introspect({ ...good, aud: undefined }, { allowMissingAudience: true })).toMatchObject({
      valid: true,
    });
    expect(await introspect({ ...good, iss: issuer }, { issuer })).toMatchObject({ valid: true });
    expect(await introspect({ ...good, iss: `${issuer}/` }, { issuer })).toMatchObject({ valid: false });
  });

  it.each<[string, (res: ServerResponse) => void]>([
    ['500', (res) => json(res, {}, 500)],
    ['HTML', (res) => res.end('<html>')],
    ['a redirect', (res) => res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['a list', (res) => json(res, [])],
    ['silence', () => {}],
    ['a torn connection', (res) => res.destroy()],
    ['2 MiB', (res) => json(res, { active: true, pad: 'x'.repeat(2 * 1024 * 1024) })],
  ])('treats %s as an outage, within its deadline', async (_what, reply) => {
    const { url } = await endpoint((_req, res) => reply(res));
    const result = await createIntrospectionValidator(url, { timeout: 300, logger: quiet })('t', resource);
    expect(result).toEqual({
      valid: false,
      error: 'temporarily_unavailable',
      errorDescription: 'Tokens cannot be checked right now',
    });
  });

  it('keeps tokens that the endpoint quotes out of the log', async () => {
    const { url } = await endpoint((_req, res, body) => {
      res.end(new URLSearchParams(body).get('token'));
    });
    const logged: string[] = [];
    const logger = { ...quiet, error: (message: string) => void logged.push(message) };
    const validate = createIntrospectionValidator(url, { logger });
    expect(await validate('secret-token-of-ada', resource)).toMatchObject({ error: 'temporarily_unavailable' });
    expect(logged.join('')).toMatch(/failed/);
    expect(logged.join('')).not.toContain('secret-tok');
  });

  it('treats rejected credentials as an error of the server, and logs it', async () => {
    const { url } = await endpoint((_req, res) => json(res, {}, 401));
    const logged: string[] = [];
    const logger = { ...quiet, error: (message: string) => void logged.push(message) };
    const result = await createIntrospectionValidator(url, { logger })('t', resource);
    expect(result).toMatchObject({ valid: false, error: 'server_error' });
    expect(logged).toHaveLength(1);
  });

  it('sends one introspection for a hundred parallel requests, and none while the result is fresh', async () => {
    const { url, bodies } = await endpoint((_req, res) => setTimeout(() => json(res, good), 20));
    let now = Date.now();
    const validate = createIntrospectionValidator(url, { cacheTtl: 1000, now: () => now });
    const results = await Promise.all(Array.from({ length: 100 }, () => validate('t', resource)));
    expect(results.every(({ valid }) => valid)).toBe(true);
    await validate('t', resource);
    expect(bodies).toHaveLength(1);
    now += 1001;
    await validate('t', resource);
    expect(bodies).toHaveLength(2);
  });

  it('detects a revocation within the ttl, caches invalid tokens briefly, and outages not at all', async () => {
    let answer: object = good;
    let status = 200;
    const { url, bodies } = await endpoint((_req, res) => json(res, answer, status));
    let now = Date.now();
    const validate = createIntrospectionValidator(url, { cacheTtl: 6000, now: () => now, logger: quiet });
    expect(await validate('t', resource)).toMatchObject({ valid: true });
    answer = { active: false };
    now += 6001;
    expect(await validate('t', resource)).toMatchObject({ valid: false });
    await validate('t', resource);
    expect(bodies).toHaveLength(2);
    now += 1001;
    status = 500;
    expect(await validate('t', resource)).toMatchObject({ error: 'temporarily_unavailable' });
    status = 200;
    answer = good;
    expect(await validate('t', resource)).toMatchObject({ valid: true });
  });

  it('evicts a token when it expires, and the oldest when there are too many', async () => {
    const { url, bodies } = await endpoint((_req, res, body) =>
      json(res, { ...good, ...(body.includes('token=short') && { exp: seconds() + 1 }) }),
    );
    let now = Date.now();
    const validate = createIntrospectionValidator(url, {
      cacheTtl: 60_000,
      cacheSize: 2,
      clockTolerance: 0,
      now: () => now,
    });
    await validate('short', resource);
    now += 2000;
    expect(await validate('short', resource)).toMatchObject({ valid: false });
    for (const token of ['a', 'b', 'c', 'c', 'b', 'a']) await validate(token, resource);
    expect(bodies.filter((body) => body.includes('token=a&'))).toHaveLength(2);
    expect(bodies.filter((body) => body.includes('token=b&'))).toHaveLength(1);
  });

  it('rejects an endpoint without TLS', () => {
    for (const url of ['http://auth.example.com/', 'javascript:alert(1)', 'https://u:p@auth.example.com/', 'nothing']) {
      expect(() => createIntrospectionValidator(url)).toThrow(errorOf('OAUTH_URL_INSECURE'));
    }
  });
});

describe('createJwtValidator', () => {
  const claims = (): Record<string, unknown> => ({
    iss: issuer,
    aud: resource,
    sub: 'ada',
    scope: 'a b',
    exp: seconds() + 60,
  });

  const sign = (payload: Record<string, unknown>, header: Record<string, unknown> = {}) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header }).sign(keys.privateKey);

  const setUp = async (
    options: Partial<Parameters<typeof createJwtValidator>[0]> = {},
    published: () => JWK[] = () => [jwk],
  ) => {
    const { url, bodies } = await endpoint((_req, res) => json(res, { keys: published() }));
    return {
      validate: createJwtValidator({ issuer, jwksUri: url, logger: quiet, ...options }),
      fetches: () => bodies.length,
    };
  };

  it('accepts a token of its issuer for this resource', async () => {
    const { validate } = await setUp();
    expect(await validate(await sign(claims(), { typ: 'at+jwt' }), resource)).toMatchObject({
      valid: true,
      subject: 'ada',
      scopes: ['a', 'b'],
    });
    expect(await validate(await sign({ ...claims(), scope: undefined, scp: ['c'] }), resource)).toMatchObject({
      scopes: ['c'],
    });
  });

  it.each([
    ['expired', { exp: seconds() - 31 }],
    ['without expiry', { exp: undefined }],
    ['not yet valid', { nbf: seconds() + 60 }],
    ['for another', { aud: 'https://other.example' }],
    ['for nobody', { aud: undefined }],
    ['for a prefix', { aud: `${resource}2` }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of a longer issuer', { iss: `${issuer}/` }],
    ['with a scope list', { scope: ['a'] }],
    ['bound to a key, whose proof is not checked', { cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } }],
    ['bound to a certificate', { cnf: { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2' } }],
  ])('refuses a token %s', async (_what, change) => {
    const { validate } = await setUp();
    expect(await validate(await sign({ ...claims(), ...change }), resource)).toMatchObject({
      valid: false,
      error: 'invalid_token',
    });
  });

  it.each([
    ['typ of an id token', { typ: 'id_token+jwt' }],
    ['jku', { jku: 'http://127.0.0.1:1/keys' }],
    ['x5u', { x5u: 'http://127.0.0.1:1/cert' }],
    ['a key of its own', { jwk: { kty: 'EC' } }],
  ])('refuses a header with %s without fetching anything', async (_what, header) => {
    const { validate, fetches } = await setUp();
    expect(await validate(await sign(claims(), header), resource)).toMatchObject({ error: 'invalid_token' });
    expect(fetches()).toBe(0);
  });

  it('rejects a missing signature, a shared secret made of the public key, garbage and a changed payload', async () => {
    const { validate } = await setUp();
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${encode({ alg: 'none' })}.${encode(claims())}.`;
    const secret = new TextEncoder().encode(JSON.stringify(jwk).padEnd(64, ' '));
    const confused = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(secret);
    const [head, , signature] = (await sign(claims())).split('.');
    const changed = `${head}.${encode({ ...claims(), sub: 'eve' })}.${signature}`;
    // Another spelling of the last six bits, of which two are used.
    const valid = await sign(claims());
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const respelled = valid.slice(0, -1) + last[last.indexOf(valid.at(-1) as string) + 1];
    expect(Buffer.from(respelled.split('.')[2]!, 'base64url')).toEqual(Buffer.from(valid.split('.')[2]!, 'base64url'));
    for (const token of [unsigned, confused, changed, respelled, `${valid}==`, 'a.b.c', 'opaque', '..', '']) {
      expect(await validate(token, resource)).toMatchObject({ valid: false, error: 'invalid_token' });
    }
  });

  it('cannot be configured with unsafe algorithms', () => {
    for (const algorithms of [['none'], ['HS256'], ['RS256', 'HS512'], []]) {
      expect(() => createJwtValidator({ issuer, jwksUri: 'https://a.example/jwks', algorithms })).toThrow(
        errorOf('OAUTH_ALGORITHM_UNSAFE'),
      );
    }
  });

  it.each([undefined, ''])('does not start without an issuer, but with %j', (missing) => {
    expect(() => createJwtValidator({ issuer: missing as string, jwksUri: 'https://a.example/jwks' })).toThrow(
      errorOf('OAUTH_ISSUER_MISSING'),
    );
  });

  it('rejects unknown keys and fetches the key set once per cooldown', async () => {
    let now = Date.now();
    const { validate, fetches } = await setUp({ now: () => now });
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, n) => sign(claims(), { kid: `unknown-${n}` })));
    const results = await Promise.all(tokens.map((token) => validate(token, resource)));
    expect(results.every(({ error }) => error === 'invalid_token')).toBe(true);
    expect(fetches()).toBe(1);
    now += 30_001;
    await Promise.all(tokens.map((token) => validate(token, resource)));
    expect(fetches()).toBe(2);
  });

  it('finds a rotated key', async () => {
    const next = await generateKeyPair('ES256');
    const rotated = { ...(await exportJWK(next.publicKey)), kid: 'k2', alg: 'ES256' };
    let published = [jwk];
    let now = Date.now();
    const { validate } = await setUp({ now: () => now }, () => published);
    expect(await validate(await sign(claims()), resource)).toMatchObject({ valid: true });
    published = [rotated];
    now += 30_001;
    const token = await new SignJWT({ ...claims(), exp: seconds() + 120 })
      .setProtectedHeader({ alg: 'ES256', kid: 'k2' })
      .sign(next.privateKey);
    expect(await validate(token, resource)).toMatchObject({ valid: true });
  });

  it('accepts a URL that ends in a line break, and none with one inside', async () => {
    const { url } = await endpoint((_req, res) => json(res, { keys: [jwk] }));
    const token = await sign({ ...claims(), exp: seconds() + 3600 });
    const validate = createJwtValidator({ issuer, jwksUri: `${url}\n`, logger: quiet });
    expect(await validate(token, resource)).toMatchObject({ valid: true });
    expect(() => createJwtValidator({ issuer, jwksUri: `${url}\nx`, logger: quiet })).toThrow('is not a URL');
  });

  it('fetches keys that never grow too old', async () => {
    const { url } = await endpoint((_req, res) => json(res, { keys: [jwk] }));
    const options = { issuer, jwksUri: url, logger: quiet, maxKeyAge: Number.POSITIVE_INFINITY };
    const token = await sign({ ...claims(), exp: seconds() + 3600 });
    expect(await createJwtValidator(options)(token, resource)).toMatchObject({ valid: true });
  });

  it('uses known keys through an outage, and returns temporarily_unavailable without any', async () => {
    let isDown = false;
    let now = Date.now();
    const { url } = await endpoint((_req, res) => (isDown ? res.destroy() : json(res, { keys: [jwk] })));
    const options = { issuer, jwksUri: url, logger: quiet, now: () => now, maxKeyAge: 60_000 };
    const validate = createJwtValidator(options);
    const token = await sign({ ...claims(), exp: seconds() + 3600 });
    expect(await validate(token, resource)).toMatchObject({ valid: true });
    isDown = true;
    now += 120_000;
    expect(await validate(token, resource)).toMatchObject({ valid: true });
    const fresh = createJwtValidator(options);
    expect(await fresh(token, resource)).toMatchObject({ error: 'temporarily_unavailable' });
    const broken = await endpoint((_req, res) => json(res, {}, 500));
    const withoutKeys = createJwtValidator({ ...options, jwksUri: broken.url });
    expect(await withoutKeys(token, resource)).toMatchObject({ error: 'temporarily_unavailable' });
    isDown = false;
    now += 30_001;
    expect(await fresh(token, resource)).toMatchObject({ valid: true });
  });
});
