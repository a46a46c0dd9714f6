import type { webcrypto } from 'node:crypto';
import type { CryptoKeyPair, DPoPHandle } from 'oauth4webapi';
import type { OAuthDiscoveryState } from '../../protocol/oauth-types.js';
import type { StoredValues } from './oauth-storage.js';

/** Signature algorithm of proofs. Every server that supports DPoP has it. */
const algorithm = 'ES256';
const curve = { name: 'ECDSA', namedCurve: 'P-256' };

/**
 * Returns the handle that creates proofs and stores nonces. Its key pair is stored next to the tokens, which it belongs to.
 *
 * @see [RFC 9449 – OAuth 2.0 Demonstrating Proof of Possession](https://www.rfc-editor.org/rfc/rfc9449.html)
 */
export async function openDPoPHandle(values: StoredValues): Promise<DPoPHandle> {
  const { DPoP, generateKeyPair } = await import('oauth4webapi');
  const stored = await values.read('dpop_key');
  if (stored) return DPoP({}, await importKeyPair(stored));
  const pair = await generateKeyPair(algorithm, { extractable: true });
  await values.write('dpop_key', await crypto.subtle.exportKey('jwk', pair.privateKey));
  return DPoP({}, pair);
}

async function importKeyPair(jwk: webcrypto.JsonWebKey): Promise<CryptoKeyPair> {
  const { kty, crv, x, y } = jwk;
  const publicJwk = { kty, crv, x, y } as webcrypto.JsonWebKey;
  return {
    privateKey: await crypto.subtle.importKey('jwk', jwk, curve, true, ['sign']),
    publicKey: await crypto.subtle.importKey('jwk', publicJwk, curve, true, ['verify']),
  };
}

/** Whether an authorization server issues tokens that are bound to a key of ours. */
export function supportsDPoP({ authorizationServerMetadata: metadata }: OAuthDiscoveryState): boolean {
  const supported =
    metadata && 'dpop_signing_alg_values_supported' in metadata && metadata.dpop_signing_alg_values_supported;
  return Array.isArray(supported) && supported.includes(algorithm);
}
