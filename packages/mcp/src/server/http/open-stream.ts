import { errorCodes, LAST_LEGACY_VERSION } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import type { EventStore } from './event-store.js';
import { EventStream, findStreamId, replay } from './event-stream.js';
import { requireEventStream } from './guard.js';
import type { EventSink } from './message.js';
import type { HttpResponse } from './response.js';
import { requireSession, type HttpSession } from './sessions.js';

/**
 * Serves GET: the standalone event stream, or with `Last-Event-ID` the rest of any stream of the session. A stream has one reader; a
 * second one is refused.
 *
 * @throws ProtocolError with HTTP status 400, 404, 406 or 409
 */
export async function openStream(response: HttpResponse): Promise<void> {
  const { request, options } = response;
  requireEventStream(request);
  const session = requireSession(response);
  const lastEventId = request.header('last-event-id');
  if (lastEventId && options.eventStore) return resumeStream(response, session, options.eventStore, lastEventId);
  if (session.standaloneStream?.hasReader) throw conflict();
  const stream = (session.standaloneStream ??= createStandaloneStream(response, session));
  const sink = response.openSink();
  stream.attach(sink);
  watch(response, session, stream, sink);
  // Sends the headers, which the client waits for.
  stream.keepAlive();
  if (session.protocolVersion >= LAST_LEGACY_VERSION) stream.prime(options.retryInterval);
}

async function resumeStream(
  response: HttpResponse,
  session: HttpSession,
  store: EventStore,
  lastEventId: string,
): Promise<void> {
  const streamId = await findStreamId(store, lastEventId);
  // Events of other sessions are not visible.
  if (streamId === undefined || !isStreamOf(session, streamId)) {
    throw new ProtocolError(errorCodes.refused, 'Bad Request: unknown Last-Event-ID', {
      httpStatus: 400,
    });
  }
  if (streamId === session.standaloneStreamId) session.standaloneStream ??= createStandaloneStream(response, session);
  const stream = streamId === session.standaloneStreamId ? session.standaloneStream : session.streams?.get(streamId);
  if (stream?.hasReader) throw conflict();
  const sink = response.openSink();
  if (!stream) {
    // The response is complete: replay the rest and end.
    await replay(store, lastEventId, sink).catch(response.endpoint.onStoreError);
    return sink.end();
  }
  stream.resume(sink, lastEventId);
  watch(response, session, stream, sink);
}

/** Compares the whole session id: an id from `sessionIdGenerator` may begin with another one. */
function isStreamOf({ id }: HttpSession, streamId: string): boolean {
  return streamId.startsWith(`${id}/`) && !streamId.includes('/', id.length + 1);
}

function createStandaloneStream({ endpoint, options }: HttpResponse, session: HttpSession): EventStream {
  return new EventStream({
    id: session.standaloneStreamId,
    store: options.eventStore,
    onStoreError: endpoint.onStoreError,
  });
}

function watch(response: HttpResponse, session: HttpSession, stream: EventStream, sink: EventSink): void {
  const { endpoint, options } = response;
  endpoint.heartbeat.start();
  response.onClose(() => {
    stream.detach(sink);
    // Without a store a later reader cannot resume the stream.
    if (!options.eventStore && session.standaloneStream === stream) session.standaloneStream = undefined;
    endpoint.sessions.touch(session);
  });
}

function conflict(): ProtocolError {
  return new ProtocolError(errorCodes.refused, 'Conflict: Only one SSE stream is allowed per session', {
    httpStatus: 409,
  });
}
