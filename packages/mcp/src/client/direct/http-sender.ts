import type { ClientRequest, IncomingMessage } from 'node:http';
import { errorCodes, MODERN_VERSION } from '../../protocol/constants.js';
import type { RequestId } from '../../protocol/json-rpc.js';
import { currentContext } from '../request-scope.js';
import { streamEnded } from '../request-error.js';
import type { HttpServerDefinition } from '../server-definition.js';
import { isIdentity, limitEvents, readAll, toResponse } from '../transports/http-answer.js';
import { openHttpRequest, toHttpTarget } from '../transports/http-request.js';
import { isFetchReplaced } from '../../is-fetch-replaced.js';
import { claimsToAnswer, isAnswerTo, withAnswerId } from './answer.js';
import type { AnswerListener, DirectSender, OutgoingRequest } from './direct-channel.js';
import { createEventReader, type StreamEvent } from './event-reader.js';
import { createStreamRelay, type StreamRelay } from './stream-relay.js';

export interface HttpSenderOptions {
  readonly url: URL;
  /** Those of the definition. */
  readonly headers: HttpServerDefinition['headers'];
  /** Those of `requestInit`. */
  readonly requestHeaders: Headers;
  /** What the connection is known by at this moment. */
  readonly session: () => { readonly sessionId: string | undefined; readonly protocolVersion: string | undefined };
  readonly isModern: boolean;
  /** Gets what an answer's stream carries beside the answer. */
  readonly onMessage: (message: unknown) => void;
  readonly onError: (error: Error) => void;
}

/** Sends each request with a POST of its own, and reads JSON or an event stream back. */
export function createHttpSender(options: HttpSenderOptions): DirectSender {
  const { url, headers, requestHeaders, session, isModern } = options;
  const target = toHttpTarget(url);
  const fixed = {
    'accept-encoding': 'identity',
    ...Object.fromEntries(requestHeaders),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const headersOf = ({ method, name, body }: OutgoingRequest, added: Record<string, string> | undefined): string[] => {
    const { sessionId, protocolVersion } = session();
    const all: Record<string, string> = {
      host: target.host,
      ...fixed,
      'content-length': String(Buffer.byteLength(body)),
    };
    if (sessionId !== undefined) all['mcp-session-id'] = sessionId;
    if (isModern) {
      all['mcp-protocol-version'] = MODERN_VERSION;
      all['mcp-method'] = method;
      if (name !== undefined) all['mcp-name'] = name;
    } else if (protocolVersion !== undefined) all['mcp-protocol-version'] = protocolVersion;
    if (added) for (const key in added) all[key.toLowerCase()] = added[key] as string;
    const flat: string[] = [];
    for (const key in all) flat.push(key, all[key] as string);
    return flat;
  };

  return {
    isOpen: () => !isFetchReplaced(),
    send: (request, listener) => {
      let sent: ClientRequest | undefined;
      let isOver = false;
      const start = (added?: Record<string, string>): void => {
        if (isOver) return;
        try {
          sent = openHttpRequest(target, 'POST', headersOf(request, added));
        } catch (error) {
          // A value that no header can have.
          return listener.onError(error);
        }
        sent.on('response', (message) => readAnswer(message, request.id, listener, options));
        sent.on('error', (error) => listener.onError(new TypeError('fetch failed', { cause: error })));
        sent.end(request.body);
      };
      if (typeof headers === 'function') {
        Promise.resolve(currentContext())
          .then((requestContext) => headers({ requestContext }))
          .then(start)
          .catch(listener.onError);
      } else start(headers);
      return () => {
        isOver = true;
        sent?.destroy();
      };
    },
  };
}

function readAnswer(
  message: IncomingMessage,
  id: RequestId,
  listener: AnswerListener,
  options: HttpSenderOptions,
): void {
  const { statusCode, headers } = message;
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (statusCode === 200 && isIdentity(message)) {
    if (type === 'application/json') return void readJson(message, id, listener);
    if (type === 'text/event-stream') return readEvents(message, id, listener, options);
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
  { onMessage, onError }: HttpSenderOptions,
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
    if (relay) return error ? relay.fail(error) : relay.end();
    if (error) onError(error);
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
