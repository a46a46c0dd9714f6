import type { EventStore } from './event-store.js';
import { EventStream, findStreamId, primingEvent, replay } from './event-stream.js';
import { requireAccepted } from './guard.js';
import type { EventSink, HttpReply, HttpRequest } from './message.js';
import type { StreamableHTTPServerTransportOptions } from './endpoint-options.js';
import type { HttpEndpoint } from './endpoint.js';
import { callerOf, type HttpSession } from './sessions.js';
import { openReader, requireStreamOf } from './stream-reader.js';

interface StreamRequest {
  readonly session: HttpSession;
  readonly reply: HttpReply;
  readonly options: StreamableHTTPServerTransportOptions;
  readonly onStoreError: (error: unknown) => void;
}

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
  const { eventStore, retryInterval } = options;
  if (request.authInfo) session.lastCaller ??= callerOf(request, session.id).withoutRequest();
  const lastEventId = request.header('last-event-id');
  const following = session.follow(reply, lastEventId, options);
  if (following) return following;
  const get: StreamRequest = { session, reply, options, onStoreError };
  if (lastEventId && eventStore) return resumeStream(get, eventStore, lastEventId);
  const stream = standaloneStreamOf(get);
  stream.attach(openSink(get, stream));
  if (session.acceptsEmptyEvents) stream.prime(retryInterval);
}

async function resumeStream(request: StreamRequest, store: EventStore, lastEventId: string): Promise<void> {
  const { session, options, onStoreError } = request;
  const streamId = await findStreamId(store, lastEventId);
  requireStreamOf(session, streamId);
  const isStandalone = streamId === session.standaloneStreamId;
  const stream = isStandalone ? standaloneStreamOf(request) : session.streams?.get(streamId);
  const sink = openSink(request, stream);
  if (session.acceptsEmptyEvents) sink.write(primingEvent(lastEventId, options.retryInterval));
  if (stream) return stream.resume(sink, store, lastEventId);
  // The response is complete: replay the rest and end.
  await replay(store, lastEventId, sink).catch(onStoreError);
  sink.end();
}

function standaloneStreamOf({ session, options, onStoreError }: StreamRequest): EventStream {
  const { standaloneStreamId: id } = session;
  return (session.standaloneStream ??= new EventStream({ id, store: options.eventStore, onStoreError }));
}

/** @param stream - `undefined` for a stream that is complete */
function openSink({ session, reply, options }: StreamRequest, stream: EventStream | undefined): EventSink {
  return openReader(session, reply, stream?.hasReader === true, (sink) => {
    stream?.detach(sink);
    // Without a store a later reader cannot resume the stream.
    if (!options.eventStore && session.standaloneStream === stream) session.standaloneStream = undefined;
  });
}
