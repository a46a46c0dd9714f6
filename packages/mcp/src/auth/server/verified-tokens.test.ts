import type { McpAuthInfo } from '@quiver/core/tools';
import { createJwtValidator, createWebOAuth, type TokenValidationResult } from '@quiver/mcp/auth';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import { startProtectedServer as start } from '../../../test/oauth/protected-server.ts';
import { initializeParams, rpc, send } from '../../../test/clients/wire.ts';

async function statusOf(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await send(url, { headers, body: rpc('initialize', initializeParams) })).status;
}

/** A validator that counts its calls. */
function counting(result: Partial<TokenValidationResult>) {
  const calls: string[] = [];
  const validateToken = (token: string): TokenValidationResult => {
    calls.push(token);
    return { valid: true, subject: token, ...result };
  };
  return { calls, validateToken };
}

function fail(): never {
  throw new Error('The list of revoked tokens is unavailable.');
}

/** Programs in JavaScript return promises. */
const promise = (async () => false) as unknown as () => boolean;

describe('a verified token', () => {
  it.each<[string, number, Partial<TokenValidationResult>, { cacheTtl?: number }]>([
    ['each time by default', 3, {}, {}],
    ['once when its validator allows more requests', 1, { cacheFor: 60_000 }, {}],
    ['each time with cacheTtl 0', 3, { cacheFor: 60_000 }, { cacheTtl: 0 }],
    ['each time when it has ended by its own time', 3, { cacheFor: 60_000, expiresAt: Date.now() / 1000 - 1 }, {}],
    ['each time when its validator withdraws it', 3, { cacheFor: 60_000, isCurrent: () => false }, {}],
    ['each time when its validator fails to allow it', 3, { cacheFor: 60_000, isCurrent: fail }, {}],
    ['each time when its validator promises an answer', 3, { cacheFor: 60_000, isCurrent: promise }, {}],
    ['once when its validator allows it', 1, { cacheFor: 60_000, isCurrent: () => true }, {}],
    ['once when its claims have bytes', 1, { cacheFor: 60_000, claims: { photo: new Uint8Array(1) } }, {}],
  ])('is validated %s', async (_when, expected, result, options) => {
    const { calls, validateToken } = counting(result);
    const { url } = await start({ validateToken, ...options });
    for (let count = 0; count < 3; count += 1) expect(await statusOf(url, 'a')).toBe(200);
    expect(calls).toHaveLength(expected);
    // Another token is another entry.
    await statusOf(url, 'b');
    expect(calls.at(-1)).toBe('b');
  });

  it('is not cached when it is refused', async () => {
    const { calls, validateToken } = counting({ valid: false, cacheFor: 60_000 });
    const { url } = await start({ validateToken });
    expect(await statusOf(url, 'a')).toBe(401);
    expect(await statusOf(url, 'a')).toBe(401);
    expect(calls).toHaveLength(2);
  });

  it('gives each request a separate identity', async () => {
    const { calls, validateToken } = counting({ cacheFor: 60_000, scopes: ['read'], claims: { roles: ['user'] } });
    const resource = 'https://mcp.example.com/mcp';
    const protect = createWebOAuth({ oauth: { resource, authorizationServers: [resource], validateToken } });
    const identify = async (): Promise<McpAuthInfo | undefined> => {
      const result = await protect(new Request(resource, { headers: { authorization: 'Bearer a' } }));
      return result.proceed ? result.authInfo : undefined;
    };
    const first = await identify();
    const before = structuredClone(first);
    first?.scopes?.push('admin');
    Object.assign(first?.extra ?? {}, { subject: 'root' });
    const claims = first?.extra?.['claims'] as { roles: string[] } | undefined;
    expect(() => claims?.roles.push('admin')).toThrow(TypeError);
    expect(await identify()).toEqual(before);
    expect(calls).toHaveLength(1);
  });

  it('leaves objects of the application in its claims alone', async () => {
    const user = new (class User {
      visits = 0;
    })();
    const { url } = await start({ validateToken: counting({ cacheFor: 60_000, claims: { user } }).validateToken });
    expect(await statusOf(url, 'a')).toBe(200);
    user.visits += 1;
    expect(user.visits).toBe(1);
  });
});

it('accepts a JWT until its key leaves the key set', async () => {
  const old = await generateKeyPair('ES256');
  const fresh = await generateKeyPair('ES256');
  const asJwk = async ({ publicKey }: typeof old, kid: string): Promise<JWK> => ({
    ...(await exportJWK(publicKey)),
    kid,
    alg: 'ES256',
  });
  let keys = [await asJwk(old, 'old')];
  const { origin: jwksUri } = await serveHttp((_req, res) => res.end(JSON.stringify({ keys })));
  const issuer = 'https://auth.example.com';
  const resource = 'https://mcp.example.com/mcp';
  const sign = ({ privateKey }: typeof old, kid: string): Promise<string> =>
    new SignJWT({ sub: 'ada' })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(issuer)
      .setAudience(resource)
      .setExpirationTime('1h')
      .sign(privateKey);
  const validate = createJwtValidator({ issuer, jwksUri, cooldown: 0 });
  let verified = 0;
  const { url } = await start({
    resource,
    validateToken: async (token, audience) => {
      verified += 1;
      return validate(token, audience);
    },
  });
  const token = await sign(old, 'old');
  for (let count = 0; count < 4; count += 1) expect(await statusOf(url, token)).toBe(200);
  // The first check loaded the keys; only the second could say that they are still the same.
  expect(verified).toBe(2);

  keys = [await asJwk(fresh, 'fresh')];
  // A token of the new key fetches the key set.
  expect(await statusOf(url, await sign(fresh, 'fresh'))).toBe(200);
  expect(await statusOf(url, token)).toBe(401);
});
