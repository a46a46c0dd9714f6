import { QuiverError } from '@quiver/core';
import { invalidOptions } from '@quiver/core/internal';
import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import type { SharedStore } from '../../shared-store/shared-store.js';
import { DEFAULT_REQUEST_STATE_TTL } from '../limits.js';

/** Signature and lifetime of the state between input rounds. */
export interface RequestStateOptions {
  /**
   * Key that signs the state between the rounds of a call; at least 32 bytes, the same for every instance of the server. Default: random,
   * and with `sharedStore` kept there for all instances.
   */
  key?: string | Uint8Array;
  /** Seconds that a client has for a round. Default 600. */
  ttlSeconds?: number;
}

/** Checked result of a request to the client, or the error that the tool received. */
export type InputOutcome = { readonly question: string } & (
  | { readonly answer: unknown }
  | { readonly failure: { readonly code: string; readonly message: string } }
);

/**
 * Returns the result of an earlier round, or throws its error again.
 *
 * @throws `QuiverError` with the code of the failure
 */
export function repeatOutcome(outcome: InputOutcome): unknown {
  if ('answer' in outcome) return outcome.answer;
  throw new QuiverError(outcome.failure.code, outcome.failure.message);
}

/** State of a call between its rounds. It travels through the client: signed, not secret. */
export interface RequestState {
  readonly id: string;
  /** Digest of what the request names, and its arguments. */
  readonly call: string;
  readonly round: number;
  /** Digest of each request that was sent, by name. */
  readonly asked: Readonly<Record<string, string>>;
  /** Outcomes of requests to the client, with the digest of their request. */
  readonly answers: Readonly<Record<string, InputOutcome>>;
  /** State for the run of the next round, where the requests of this one are of another program. */
  readonly kept?: unknown;
}

export interface RequestStateCodec {
  /** @param binding - what the state is bound to: method and caller, as a digest */
  mint(state: RequestState, binding: string): Promise<string>;
  /** @throws ProtocolError -32602 for a state that was changed, has expired or belongs to another caller */
  verify(text: unknown, binding: string): Promise<RequestState>;
  readonly ttlSeconds: number;
  /** Whether a client may still send a state that only this process accepts, because its key is random. */
  readonly isAwaited: boolean;
}

const algorithm = 'HS256';
const minKeyBytes = 32;

/**
 * Signs the state as a JSON Web Token; `jose` is loaded with the first state.
 *
 * @param loadKey - returns the key of all instances, for options without one
 * @param now - milliseconds since 1970
 * @throws `OPTIONS_INVALID` for a key of less than 32 bytes
 * @see [RFC 7515, JSON Web Signature](https://www.rfc-editor.org/rfc/rfc7515.html)
 * @see [RFC 7518, section 3.2 – HMAC with SHA-2](https://www.rfc-editor.org/rfc/rfc7518.html#section-3.2)
 */
export function createRequestStateCodec(
  { key: given, ttlSeconds = DEFAULT_REQUEST_STATE_TTL }: RequestStateOptions = {},
  loadKey: () => Promise<Uint8Array> = async () => createKey(),
  now: () => number = Date.now,
): RequestStateCodec {
  let key = typeof given === 'string' ? new TextEncoder().encode(given) : given;
  if (key && key.length < minKeyBytes) {
    throw invalidOptions(
      `requestState.key of MCPServer has ${key.length} bytes; it needs ${minKeyBytes} or more, random and secret.`,
    );
  }
  // Not before it is needed: edge runtimes forbid random values while a module loads.
  const secret = async (): Promise<Uint8Array> => {
    const loaded = key ?? (await loadKey());
    return (key ??= loaded);
  };
  /** Seconds since 1970 at which the newest state expires. */
  let lastExpiration = 0;
  return {
    ttlSeconds,
    get isAwaited() {
      return given === undefined && now() / 1000 < lastExpiration;
    },
    mint: async (state, binding) => {
      const { SignJWT } = await import('jose/jwt/sign');
      lastExpiration = Math.floor(now() / 1000) + ttlSeconds;
      return new SignJWT({ state })
        .setProtectedHeader({ alg: algorithm })
        .setAudience(binding)
        .setExpirationTime(lastExpiration)
        .sign(await secret());
    },
    verify: async (text, binding) => {
      const current = await secret();
      try {
        const { jwtVerify } = await import('jose/jwt/verify');
        const options = { algorithms: [algorithm], audience: binding, currentDate: new Date(now()) };
        const { payload } = await jwtVerify(text as string, current, { ...options, requiredClaims: ['exp', 'aud'] });
        if (isObject(payload['state'])) return payload['state'] as unknown as RequestState;
      } catch {
        // Does not reveal which check failed.
      }
      const reason =
        given === undefined
          ? 'belongs to another caller, or was issued before the server restarted: its key is random without requestState: { key } or a shared store'
          : 'or belongs to another caller';
      throw invalidParams(`Invalid requestState: it was changed, has expired, ${reason}. Start the call again.`);
    },
  };
}

function createKey(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(minKeyBytes));
}

/** Returns the key that the instances of a server share: the first one to need it makes it. */
export async function loadSharedKey(store: SharedStore, server: string): Promise<Uint8Array> {
  const name = `request-state-key/${encodeURIComponent(server)}`;
  const made = JSON.stringify([...createKey()]);
  const version = await store.put(name, made, { version: 0 });
  const value = version === undefined ? (await store.get(name))?.value : made;
  const bytes: unknown = JSON.parse(value ?? 'null');
  if (Array.isArray(bytes) && bytes.length === minKeyBytes) return Uint8Array.from(bytes as number[]);
  throw new QuiverError(
    'SHARED_KEY_INVALID',
    `The record '${name}' of the shared store is not a key that MCPServer wrote. Delete it, or set requestState.key.`,
  );
}
