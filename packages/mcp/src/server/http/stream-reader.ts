import { monotonicNow } from '../../monotonic-now.js';
import { refused } from '../../protocol/protocol-error.js';
import { eventStreamHeaders, keepAliveComment, type EventSink, type HttpReply } from './message.js';
import type { HttpSession } from './sessions.js';
import { isStreamOf } from './stream-id.js';

/**
 * Refuses to resume a stream of another session, which is not visible.
 *
 * @param streamId - stream of the event that the client received last; `undefined` for an unknown event
 * @throws ProtocolError with HTTP status 400
 */
export function requireStreamOf(session: HttpSession, streamId: string | undefined): asserts streamId is string {
  if (streamId !== undefined && isStreamOf(session.id, streamId)) return;
  throw refused(400, 'Bad Request: unknown Last-Event-ID, or no event follows it');
}

/**
 * Starts the response to a GET request: an event stream that belongs to no request.
 *
 * @param hasReader - whether another client reads the stream
 * @param onClose - called when the client disconnects, and after the end
 * @throws ProtocolError with HTTP status 409
 */
export function openReader(
  session: HttpSession,
  reply: HttpReply,
  hasReader: boolean,
  onClose: (sink: EventSink) => void,
): EventSink {
  if (hasReader) throw refused(409, 'Conflict: Only one SSE stream is allowed per session');
  const sink = reply.stream(eventStreamHeaders);
  reply.onClose(() => {
    onClose(sink);
    session.lastActive = monotonicNow();
  });
  // Sends the headers, which the client waits for.
  sink.write(keepAliveComment);
  return sink;
}
