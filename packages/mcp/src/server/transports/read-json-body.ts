import type { IncomingMessage } from 'node:http';
import { QuiverError } from '@quiver/core';
import { errorCodes } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';

/** The largest body that is read: 4 MiB. */
export const defaultMaxBodyBytes: number = 4 * 1024 * 1024;

/** Bytes that own their memory, as bodies do. */
export type JsonBytes = Uint8Array<ArrayBuffer>;

/**
 * Reads a request body of at most `maxBytes` and parses it. A body that declares more is refused before it is read, one that
 * turns out to be more as soon as it does.
 *
 * @throws ProtocolError with HTTP status 413 for too much, 400 (-32700) for what is not UTF-8 or not JSON
 * @throws `BODY_ALREADY_READ`
 */
export function readJsonBody(req: IncomingMessage, maxBytes: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (req.readableEnded) throw bodyAlreadyRead();
    if (req.destroyed) throw bodyEndedEarly();
    refuseLargerThan(maxBytes, Number(req.headers['content-length'] ?? 0));
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBytes) {
        // What follows is read and thrown away, so that the client sees the answer and not a broken connection.
        req.off('data', onData).resume();
        first = rest = undefined;
        reject(tooLarge(maxBytes));
      } else if (first) (rest ??= [first]).push(chunk);
      else first = chunk;
    };
    const onLost = (): void => {
      if (!req.complete) reject(bodyEndedEarly());
    };
    req.on('data', onData);
    req.on('end', () => {
      const bytes = rest ? Buffer.concat(rest) : first;
      let body: unknown;
      try {
        body = parseJsonText(bytes ? bytes.toString('utf8') : '', bytes);
      } catch (error) {
        return void reject(error as Error);
      }
      resolve(body);
    });
    req.on('error', onLost);
    req.on('close', onLost);
  });
}

/** @throws ProtocolError with HTTP status 413 */
export function refuseLargerThan(maxBytes: number, bytes: number): void {
  if (bytes > maxBytes) throw tooLarge(maxBytes);
}

const replacement = '\uFFFD';
const byteOrderMark = '\uFEFF';

/**
 * Parses JSON; one byte order mark at its beginning is overlooked.
 *
 * @param bytes - what the text was decoded from; decoding puts U+FFFD where bytes are no UTF-8, and only then they are looked at
 * @throws ProtocolError -32700 with HTTP status 400 for what is not UTF-8 or not JSON
 * @see [RFC 8259, section 8.1 – Character Encoding](https://www.rfc-editor.org/rfc/rfc8259.html#section-8.1)
 */
export function parseJsonText(text: string, bytes?: Uint8Array): unknown {
  if (bytes && text.includes(replacement)) requireUtf8(bytes);
  try {
    return JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  } catch {
    throw parseError('Parse error: Invalid JSON');
  }
}

/** To be thrown where a body cannot be read because somebody did before. */
export function bodyAlreadyRead(): QuiverError {
  return new QuiverError(
    'BODY_ALREADY_READ',
    'The body of the request was read before MCPServer saw it. Leave it unread, or put what was read on req.body.',
  );
}

function requireUtf8(bytes: Uint8Array): void {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw parseError('Parse error: the body is not UTF-8');
  }
}

function tooLarge(maxBytes: number): ProtocolError {
  return new ProtocolError(errorCodes.refused, `Request body too large: at most ${maxBytes} bytes are read`, {
    httpStatus: 413,
  });
}

function bodyEndedEarly(): ProtocolError {
  return parseError('Parse error: the body ended early');
}

function parseError(message: string): ProtocolError {
  return new ProtocolError(errorCodes.parse, message, { httpStatus: 400 });
}
