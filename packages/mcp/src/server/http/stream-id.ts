import { isRequestId, type RequestId } from '../../protocol/json-rpc.js';
import { instanceIdPattern } from '../../shared-store/instance.js';

/** Characters of a request id that becomes part of a stream id. */
const MAX_NAMED_REQUEST_ID = 64;

/**
 * Returns the id of the event stream of a response: `<session>/<n>`, or `<session>/<instance>.<n>.<request id>`, from which every instance
 * knows what to send to the client when the one that writes it dies.
 *
 * @param shared - instance that writes the stream, and request that it responds to: `null` for a batch
 */
export function responseStreamIdOf(
  sessionId: string,
  number: number,
  shared?: { readonly writer: string; readonly requestId: RequestId | null },
): string {
  if (!shared) return `${sessionId}/${number}`;
  const text = JSON.stringify(shared.requestId);
  const named = text.length <= MAX_NAMED_REQUEST_ID ? encodeURIComponent(text) : '';
  return `${sessionId}/${shared.writer}.${number}.${named}`;
}

/** Returns whether a stream is one of a session. An id from `sessionIdGenerator` may begin with another one. */
export function isStreamOf(sessionId: string, streamId: string): boolean {
  return streamId.startsWith(`${sessionId}/`) && !streamId.includes('/', sessionId.length + 1);
}

const sharedNamePattern = new RegExp(`/(${instanceIdPattern.source})\\.\\d+\\.([^/]*)$`);

/** Returns the instance that writes a stream, and the request that it responds to, where its id names them. */
export function parseStreamId(streamId: string): { writer?: string; requestId?: RequestId | null } {
  const [, writer, named] = sharedNamePattern.exec(streamId) ?? [];
  if (writer === undefined || named === undefined) return {};
  try {
    const requestId: unknown = JSON.parse(decodeURIComponent(named));
    return requestId === null || isRequestId(requestId) ? { writer, requestId } : { writer };
  } catch {
    return { writer };
  }
}
