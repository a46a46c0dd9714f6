import type { JSONRPCMessage } from '../../protocol/client-types.js';
import { isObject, type RequestId } from '../../protocol/json-rpc.js';

/** What came back for a request: a message with its id, or an HTTP response that is anything else. */
export type Answer =
  | { readonly kind: 'message'; readonly message: Record<string, unknown> }
  | {
      readonly kind: 'response';
      /** The response as if the request had had this id. The signal ends what is still coming. */
      readonly open: (id: RequestId, signal?: AbortSignal | null) => Response;
    };

/** Tells whether a message is what came back for the request with this id. */
export function isAnswerTo(id: RequestId, message: unknown): message is Record<string, unknown> {
  return isObject(message) && message['id'] === id && !('method' in message);
}

/** The message with another id; text that is not a message, or not the answer to `from`, stays as it is. */
export function withAnswerId(text: string, from: RequestId, to: RequestId): string {
  if (!text.includes(String(from))) return text;
  try {
    const message: unknown = JSON.parse(text);
    return isAnswerTo(from, message) ? JSON.stringify({ ...message, id: to }) : text;
  } catch {
    return text;
  }
}

/** An answer as the SDK takes it. The SDK checks its shape. */
export function toMessage(message: Record<string, unknown>, id: RequestId): JSONRPCMessage {
  return { ...message, id } as unknown as JSONRPCMessage;
}
