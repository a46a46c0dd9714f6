import { EventStream, findStreamId, primingEvent, replay } from './event-stream.js';
import { requireAccepted } from './guard.js';
import type { HttpReply, HttpRequest } from './message.js';
import type { StreamableHTTPServerTransportOptions } from './endpoint-options.js';
import type { HttpEndpoint } from './endpoint.js';
import { callerOf } from './sessions.js';
import { openReader, requireStreamOf } from './stream-reader.js';

/**
 * Serves GET: the standalone event stream, or with `Last-Event-ID` the rest of any stream of the session. A stream has one reader; a
 * second one is refused.
 *
 * @throws ProtocolError with HTTP status 400, 404, 406 or 409
 */
export async function openStandaloneStream(
  { sessions, onStoreError }: HttpEndpoint,
  request: HttpRequest,
  reply: HttpReply,
  options: StreamableHTTPServerTransportOptions,
): Promise<void> {
  requireAccepted(request, 'text/event-stream');
  const session = await sessions.require(request, options);
  const { eventStore: store, retryInterval } = options;
  if (request.authInfo) session.lastCaller ??= callerOf(request, session.id).withoutRequest();
  const lastEventId = request.header('last-event-id');
  const following = session.follow(reply, lastEventId, options);
  if (following) return following;
  const { standaloneStreamId: ownId, acceptsEmptyEvents } = session;
  const streamId = lastEventId && store ? await findStreamId(store, lastEventId) : ownId;
  requireStreamOf(session, streamId);
  // Absent for a response that is complete.
  const stream =
    streamId === ownId
      ? (session.standaloneStream ??= new EventStream({ id: ownId, store, onStoreError }))
      : session.streams?.get(streamId);
  const sink = openReader(session, reply, stream?.hasReader === true, (closed) => {
    stream?.detach(closed);
    // Without a store a later reader cannot resume the stream.
    if (!store && session.standaloneStream === stream) session.standaloneStream = undefined;
  });
  if (!lastEventId || !store) {
    stream?.attach(sink);
    if (acceptsEmptyEvents) stream?.prime(retryInterval);
    return;
  }
  if (acceptsEmptyEvents) sink.write(primingEvent(lastEventId, retryInterval));
  if (stream) return stream.resume(sink, store, lastEventId);
  await replay(store, lastEventId, sink).catch(onStoreError);
  sink.end();
}
