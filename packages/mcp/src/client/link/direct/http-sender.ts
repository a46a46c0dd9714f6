import type { IncomingMessage } from 'node:http';
import { isFetchReplaced } from '../../../is-fetch-replaced.js';
import { errorCodes } from '../../../protocol/constants.js';
import type { RequestId } from '../../../protocol/json-rpc.js';
import { streamEnded } from '../request-error.js';
import { isIdentity, limitEvents, readAll, toResponse } from '../transports/http-answer.js';
import { claimsToAnswer, isAnswerTo, withAnswerId } from './answer.js';
import type { AnswerListener, DirectSender, OutgoingRequest } from './direct-channel.js';
import { createEventReader, type StreamEvent } from './event-reader.js';
import type { HttpExchanger } from './http-exchange.js';
import { createStreamRelay, type StreamRelay } from './stream-relay.js';

/** Hears of what comes beside the answers. */
export interface SenderEvents {
  /** Gets what an answer's stream carries beside the answer. */
  readonly onMessage: (message: unknown) => void;
  readonly onError: (error: Error) => void;
}

const accept = 'application/json, text/event-stream';

/** Sends each request with a POST of its own, and reads JSON or an event stream back. */
export class HttpSender implements DirectSender {
  readonly #exchanger: HttpExchanger;
  readonly #events: SenderEvents;

  constructor(exchanger: HttpExchanger, events: SenderEvents) {
    this.#exchanger = exchanger;
    this.#events = events;
  }

  get isOpen(): boolean {
    return !isFetchReplaced();
  }

  send(
    request: OutgoingRequest,
    listener: AnswerListener,
    onHeaders?: (headers: IncomingMessage['headers']) => void,
  ): () => void {
    return this.#exchanger.start({
      method: 'POST',
      accept,
      body: request.body,
      about: request,
      onResponse: (message) => {
        onHeaders?.(message.headers);
        readAnswer(message, request.id, listener, this.#events);
      },
      onError: listener.onError,
    });
  }

  async notify(body: string): Promise<void> {
    const { body: stream } = await this.post(body);
    await stream?.cancel();
  }

  /** Sends a message that is not answered. @returns what HTTP says to it */
  post(body: string): Promise<Response> {
    return this.#exchanger.fetch({ method: 'POST', accept, body });
  }
}

function readAnswer(message: IncomingMessage, id: RequestId, listener: AnswerListener, events: SenderEvents): void {
  const { statusCode, headers } = message;
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (statusCode === 200 && isIdentity(message)) {
    if (type === 'application/json') return void readJson(message, id, listener);
    if (type === 'text/event-stream') return readEvents(message, id, listener, events);
  }
  toResponse(message)
    .then(async (response) => passOn(response, await response.text(), id, listener))
    .catch(listener.onError);
}

/** Leaves a response that was read to the SDK. */
function passOn(
  { status, statusText, headers }: Response,
  text: string,
  id: RequestId,
  { onAnswer }: AnswerListener,
): void {
  onAnswer({
    kind: 'response',
    status,
    text,
    open: (sdkId) =>
      new Response(text === '' ? null : new TextEncoder().encode(withAnswerId(text, id, sdkId)), {
        status,
        statusText,
        headers: new Headers(headers),
      }),
  });
}

async function readJson(message: IncomingMessage, id: RequestId, listener: AnswerListener): Promise<void> {
  try {
    const text = (await readAll(message)).toString('utf8');
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      // Whatever it is, it is not for here.
    }
    if (isAnswerTo(id, answer)) listener.onAnswer({ kind: 'message', message: answer });
    else passOn(new Response(null, { headers: { 'content-type': 'application/json' } }), text, id, listener);
  } catch (error) {
    listener.onError(error);
  }
}

/**
 * A stream is left to the SDK from the first event on that says how it can be taken up again after it broke, or that is not in
 * proper form.
 */
function readEvents(
  message: IncomingMessage,
  id: RequestId,
  { onAnswer }: AnswerListener,
  { onMessage, onError }: SenderEvents,
): void {
  let relay: StreamRelay | undefined;
  let isAnswered = false;
  const read = createEventReader((event) => {
    if (relay) return relay.take(event);
    if (!isAnswered && (event.id !== undefined || event.retry !== undefined)) return leave(event);
    if (event.data === undefined || event.data === '' || (event.event ?? 'message') !== 'message') return;
    let received: unknown;
    try {
      received = JSON.parse(event.data);
    } catch (error) {
      return onError(error as Error);
    }
    if (isAnswered || !claimsToAnswer(id, received)) return onMessage(received);
    if (!isAnswerTo(id, received)) return leave(event);
    isAnswered = true;
    onAnswer({ kind: 'message', message: received });
  });
  const leave = (event: StreamEvent): void => {
    relay = createStreamRelay(id);
    relay.take(event);
    onAnswer({ kind: 'response', open: relayed(message, relay) });
  };
  const stop = (error?: Error): void => {
    if (error) onError(error);
    if (relay) return relay.end();
    if (isAnswered) return;
    const ended = { code: errorCodes.refused, message: 'the stream ended without an answer', data: streamEnded };
    onAnswer({ kind: 'message', message: { jsonrpc: '2.0', id, error: ended } });
  };
  limitEvents(message);
  message.setEncoding('utf8');
  message.on('data', read);
  message.once('end', () => stop());
  message.once('error', stop);
}

function relayed(message: IncomingMessage, relay: StreamRelay) {
  return (id: RequestId, signal?: AbortSignal | null): Response => {
    signal?.addEventListener('abort', () => message.destroy(), { once: true });
    return new Response(relay.open(id), { headers: { 'content-type': 'text/event-stream' } });
  };
}
