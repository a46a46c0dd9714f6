import type { webcrypto } from 'node:crypto';
import type * as OAuth from 'oauth4webapi';
import type { OAuthDiscoveryState } from '../../protocol/oauth-types.js';
import type { StoredValues } from './stored-values.js';

/** Signature algorithm of proofs. Every server that supports DPoP has it. */
const algorithm = 'ES256';
const curve = { name: 'ECDSA', namedCurve: 'P-256' };

/**
 * The key pair that tokens of a client are bound to. It is stored next to the tokens, because they are worthless without it.
 *
 * @see [RFC 9449 – OAuth 2.0 Demonstrating Proof of Possession](https://www.rfc-editor.org/rfc/rfc9449.html)
 */
export class DPoPKey {
  readonly #values: StoredValues;
  readonly #keyOf: (name: string) => string;
  #handle: Promise<OAuth.DPoPHandle> | undefined;

  /** @param keyOf - returns the key in the storage, which depends on the server */
  constructor(values: StoredValues, keyOf: (name: string) => string) {
    this.#values = values;
    this.#keyOf = keyOf;
  }

  /** Returns the handle that creates proofs and stores nonces. */
  handle(): Promise<OAuth.DPoPHandle> {
    this.#handle ??= this.#open().catch((error: unknown) => {
      this.#handle = undefined;
      throw error;
    });
    return this.#handle;
  }

  async forget(): Promise<void> {
    this.#handle = undefined;
    await this.#values.write(this.#keyOf('dpop_key'), undefined);
  }

  async #open(): Promise<OAuth.DPoPHandle> {
    const { DPoP } = await import('oauth4webapi');
    return DPoP({}, (await this.#load()) ?? (await this.#create()));
  }

  async #load(): Promise<OAuth.CryptoKeyPair | undefined> {
    const jwk = await this.#values.read(this.#keyOf('dpop_key'));
    if (!jwk) return undefined;
    const { kty, crv, x, y }: webcrypto.JsonWebKey = jwk;
    const { subtle } = crypto;
    return {
      privateKey: await subtle.importKey('jwk', jwk, curve, true, ['sign']),
      publicKey: await subtle.importKey('jwk', { kty, crv, x, y } as webcrypto.JsonWebKey, curve, true, ['verify']),
    };
  }

  async #create(): Promise<OAuth.CryptoKeyPair> {
    const { generateKeyPair } = await import('oauth4webapi');
    const pair = await generateKeyPair(algorithm, { extractable: true });
    await this.#values.write(this.#keyOf('dpop_key'), await crypto.subtle.exportKey('jwk', pair.privateKey));
    return pair;
  }
}

/** Whether an authorization server issues tokens that are bound to a key of ours. */
export function supportsDPoP({ authorizationServerMetadata: metadata }: OAuthDiscoveryState): boolean {
  const supported =
    metadata && 'dpop_signing_alg_values_supported' in metadata && metadata.dpop_signing_alg_values_supported;
  return Array.isArray(supported) && supported.includes(algorithm);
}
