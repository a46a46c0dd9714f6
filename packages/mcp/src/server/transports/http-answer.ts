import type { ServerResponse } from 'node:http';
import type { Channel } from '../exchange.js';

/** Bytes that may wait for a slow reader before the connection is given up. */
const maxBufferedBytes = 16 * 1024 * 1024;

export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** Writes one message as an event. A reader that does not keep up is cut off, so that it cannot fill the memory. */
export function writeEvent(res: ServerResponse, messageText: string): void {
  if (res.destroyed || res.writableEnded) return;
  res.write(`event: message\ndata: ${messageText}\n\n`);
  if (res.writableLength > maxBufferedBytes) res.destroy();
}

/** What clients skip and proxies take for life. */
export function writeComment(res: ServerResponse): void {
  if (!res.destroyed && !res.writableEnded) res.write(': keep-alive\n\n');
}

/**
 * The HTTP answer to one posted request. Nothing is written until the answer is there, and then everything at once; only a
 * message before the answer turns the response into an event stream.
 */
export class HttpAnswer implements Channel {
  readonly #res: ServerResponse;
  readonly #sessionId: string | undefined;
  #streaming = false;

  constructor(res: ServerResponse, sessionId?: string) {
    this.#res = res;
    this.#sessionId = sessionId;
  }

  send(messageText: string): void {
    this.#startStream();
    writeEvent(this.#res, messageText);
  }

  /** Keeps a quiet connection alive: sends the headers if nothing was sent yet, and a comment that clients skip. */
  keepAlive(): void {
    this.#startStream();
    writeComment(this.#res);
  }

  #startStream(): void {
    if (this.#streaming || this.#res.destroyed) return;
    this.#streaming = true;
    this.#res.writeHead(200, {
      ...eventStreamHeaders,
      ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }),
    });
  }

  end(messageText: string, status = 200): void {
    if (this.#streaming) {
      writeEvent(this.#res, messageText);
      this.#res.end();
    } else {
      sendJson(this.#res, status, messageText, this.#sessionId);
    }
  }

  /** Ends the response without an answer, as for a cancelled request. */
  abandon(): void {
    if (!this.#streaming) this.#res.writeHead(202);
    this.#res.end();
  }
}

/** One `writeHead` and one `end` with a known length: one packet for small answers. */
export function sendJson(res: ServerResponse, status: number, text: string, sessionId?: string): void {
  if (res.destroyed || res.headersSent) return;
  const length = Buffer.byteLength(text);
  res.writeHead(
    status,
    sessionId === undefined
      ? { 'content-type': 'application/json', 'content-length': length }
      : { 'content-type': 'application/json', 'content-length': length, 'mcp-session-id': sessionId },
  );
  res.end(text);
}
