// The tokens of the measured servers, and the check of tokens for libraries that leave it to the application: a table of static tokens,
// and jose with a local key set.
import { generateKeyPairSync, sign } from 'node:crypto';

export const issuer = 'http://127.0.0.1';
export const audience = `${issuer}/mcp`;
export const staticToken = 'a-token';

/** @returns an ES256 token and the key set that verifies it */
export function createJwt() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    iss: issuer,
    aud: audience,
    sub: 'ada',
    scope: 'mcp:read mcp:write',
    client_id: 'bench',
    exp: Math.floor(Date.now() / 1000) + 3600,
  };
  const signed = `${encode({ alg: 'ES256', typ: 'at+jwt', kid: 'one' })}.${encode(claims)}`;
  const signature = sign('sha256', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  return {
    token: `${signed}.${signature}`,
    jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' }] },
  };
}

/**
 * @param mode - `static` or `jwt`
 * @returns a token, and the function that verifies tokens: it returns the identity of the caller, and throws for other tokens
 */
export async function createVerifier(mode) {
  if (mode === 'static') {
    const expiresAt = Math.floor(Date.now() / 1000) + 3600;
    const known = new Map([[staticToken, { clientId: 'bench', scopes: ['mcp:read', 'mcp:write'], expiresAt }]]);
    const verify = async (token) => {
      const identity = known.get(token);
      if (!identity) throw new Error('The token is not known.');
      return { token, ...identity };
    };
    return { token: staticToken, verify };
  }
  const { createLocalJWKSet, jwtVerify } = await import('jose');
  const { token, jwks } = createJwt();
  const keys = createLocalJWKSet(jwks);
  const verify = async (given) => {
    const { payload } = await jwtVerify(given, keys, { issuer, audience, algorithms: ['ES256'] });
    const { client_id: clientId, scope, exp: expiresAt, sub } = payload;
    return { token: given, clientId, scopes: scope.split(' '), expiresAt, extra: { sub } };
  };
  return { token, verify };
}
