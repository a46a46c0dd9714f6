import { errorCodes } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';
import { requireEventStream } from '../request-guard.js';
import type { Session } from '../sessions.js';
import type { EventStore } from './event-store.js';
import { EventStream, findStreamId, replay } from './event-stream.js';
import type { HttpCall } from './http-call.js';
import { eventStreamHeaders, type EventSink } from './http-message.js';
import { requireSession } from './require-session.js';

/**
 * GET: the stream for messages that belong to no request, or with `Last-Event-ID` the rest of any stream of the session. A
 * stream has one reader; a second one never takes over.
 *
 * @throws ProtocolError with HTTP status 400, 404, 406 or 409
 */
export async function openStream(call: HttpCall): Promise<void> {
  const { request, options } = call;
  requireEventStream(request);
  const session = requireSession(call, 'GET');
  const lastEventId = request.header('last-event-id');
  if (lastEventId && options.eventStore) return resumeStream(call, session, options.eventStore, lastEventId);
  if (session.ownStream?.hasReader) throw conflict();
  const stream = (session.ownStream ??= createOwnStream(call, session));
  const sink = call.reply.stream(eventStreamHeaders);
  stream.attach(sink);
  watch(call, session, stream, sink);
  // Sends the headers, so that the client knows that it is heard.
  stream.keepAlive();
  if (session.protocolVersion >= '2025-11-25') stream.prime(options.retryInterval);
}

async function resumeStream(call: HttpCall, session: Session, store: EventStore, lastEventId: string): Promise<void> {
  const streamId = await findStreamId(store, lastEventId);
  // Events of other sessions do not exist here.
  if (streamId === undefined || !isStreamOf(session, streamId)) {
    throw new ProtocolError(errorCodes.refused, 'Bad Request: nothing is known of this Last-Event-ID', {
      httpStatus: 400,
    });
  }
  if (streamId === session.ownStreamId) session.ownStream ??= createOwnStream(call, session);
  const stream = streamId === session.ownStreamId ? session.ownStream : session.streams?.get(streamId);
  if (stream?.hasReader) throw conflict();
  const sink = call.reply.stream(eventStreamHeaders);
  if (!stream) {
    // The answer is complete; what was missed is all there is.
    await replay(store, lastEventId, sink).catch(call.state.onStoreError);
    return sink.end();
  }
  stream.resume(sink, lastEventId);
  watch(call, session, stream, sink);
}

/** To the last character: an id of your own making may begin with another one. */
function isStreamOf({ id }: Session, streamId: string): boolean {
  return streamId.startsWith(`${id}/`) && !streamId.includes('/', id.length + 1);
}

function createOwnStream({ state, options }: HttpCall, session: Session): EventStream {
  return new EventStream({ id: session.ownStreamId, store: options.eventStore, onStoreError: state.onStoreError });
}

function watch({ state, reply, options }: HttpCall, session: Session, stream: EventStream, sink: EventSink): void {
  state.heartbeat.start();
  reply.onClose(() => {
    stream.detach(sink);
    // Without a store nothing is kept for a reader that comes back.
    if (!options.eventStore && session.ownStream === stream) session.ownStream = undefined;
    state.sessions.touch(session);
  });
}

function conflict(): ProtocolError {
  return new ProtocolError(errorCodes.refused, 'Conflict: Only one SSE stream is allowed per session', {
    httpStatus: 409,
  });
}
