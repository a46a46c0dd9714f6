import type { JSONRPCMessage } from '../../../protocol/client-types.js';
import { isObject, type RequestId } from '../../../protocol/json-rpc.js';
import { isPlainMeta } from './plain-meta.js';

/** What came back for a request: a message with its id, or an HTTP response that is anything else. */
export type Answer =
  | { readonly kind: 'message'; readonly message: Record<string, unknown> }
  | {
      readonly kind: 'response';
      /** That of HTTP, unless it is a stream. */
      readonly status?: number;
      /** Its body, unless that is a stream. */
      readonly text?: string;
      /** The response as if the request had had this id. The signal ends what is still coming. */
      readonly open: (id: RequestId, signal?: AbortSignal | null) => Response;
    };

/** Tells whether a message claims to be what came back for the request with this id. */
export function claimsToAnswer(id: RequestId, message: unknown): message is Record<string, unknown> {
  return isObject(message) && message['id'] === id && !('method' in message);
}

/** Tells whether it does so in proper form: with a result or an error, and nothing that needs a closer look. */
export function isAnswerTo(id: RequestId, message: unknown): message is Record<string, unknown> {
  if (!claimsToAnswer(id, message) || message['jsonrpc'] !== '2.0') return false;
  const { result, error } = message;
  if (Object.keys(message).length !== 3) return false;
  if (isObject(result)) return isPlainMeta(result['_meta']);
  return isObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string';
}

/** The message with another id; text that is not an answer to `from`, however broken, stays as it is. */
export function withAnswerId(text: string, from: RequestId, to: RequestId): string {
  if (!text.includes(String(from))) return text;
  try {
    const message: unknown = JSON.parse(text);
    return claimsToAnswer(from, message) ? JSON.stringify({ ...message, id: to }) : text;
  } catch {
    return text;
  }
}

/** An answer as the SDK takes it. The SDK checks its shape. */
export function toMessage(message: Record<string, unknown>, id: RequestId): JSONRPCMessage {
  return { ...message, id } as unknown as JSONRPCMessage;
}
