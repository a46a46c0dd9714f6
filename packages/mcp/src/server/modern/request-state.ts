import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';

export interface RequestStateOptions {
  /**
   * Signs what clients carry between the rounds of a call; at least 32 bytes, the same for every instance that may see a round.
   * Default: random, good for one process.
   */
  key?: string | Uint8Array;
  /** How long a client may take to answer. Default 600. */
  ttlSeconds?: number;
}

/** What a call remembers from round to round. It travels through the client: signed, not secret. */
export interface RequestState {
  /** Digest of what the request names, and its arguments. */
  readonly call: string;
  readonly round: number;
  /** Digest of each question that was asked. */
  readonly asked: Readonly<Record<string, string>>;
  /** Answers that were given, with the digest of their question. */
  readonly answers: Readonly<Record<string, { readonly question: string; readonly answer: unknown }>>;
}

export interface RequestStateCodec {
  /** @param context - what the state is bound to: method and caller */
  mint(state: RequestState, context: string): Promise<string>;
  /** @throws ProtocolError -32602 for what was tampered with, has expired or belongs to somebody else */
  verify(text: unknown, context: string): Promise<RequestState>;
}

/** The SDK's codec (HMAC-SHA256), loaded when the first question is asked. */
export function createRequestStateCodec({ key: given, ttlSeconds }: RequestStateOptions = {}): RequestStateCodec {
  const loading = lazily(async () => {
    const { createRequestStateCodec: create } = await import('../../protocol/sdk-server.js');
    const key = given ?? crypto.getRandomValues(new Uint8Array(32));
    return create<RequestState>({
      key,
      ...(ttlSeconds !== undefined && { ttlSeconds }),
      // The context is whatever is passed to `mint` and `verify`.
      bind: String,
    });
  });
  return {
    mint: async (state, context) => (await loading()).mint(state, context as never),
    verify: async (text, context) => {
      try {
        const state: unknown = await (await loading()).verify(text as string, context as never);
        if (isObject(state)) return state as unknown as RequestState;
      } catch {
        // Which check failed is nobody's business.
      }
      throw invalidParams(
        'Invalid requestState: it was changed, has expired, or belongs to another caller. Start the call again.',
      );
    },
  };
}

function lazily<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => (loading ??= load());
}
