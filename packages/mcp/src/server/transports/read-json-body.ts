import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { errorCodes } from '../../protocol/constants.js';
import { ProtocolError } from '../../protocol/protocol-error.js';

/** The largest body that is read: 4 MiB. */
export const defaultMaxBodyBytes: number = 4 * 1024 * 1024;

/**
 * Reads a request body of at most `maxBytes` and parses it. A body that declares more is refused before it is read, one that
 * turns out to be more as soon as it does.
 *
 * @throws ProtocolError with HTTP status 413 for too much, 400 (-32700) for what is not UTF-8 or not JSON
 */
export async function readJsonBody(req: IncomingMessage, maxBytes: number): Promise<unknown> {
  return parseJsonBytes(await readBytes(req, maxBytes));
}

/** @throws ProtocolError -32700 with HTTP status 400 for what is not UTF-8 or not JSON */
export function parseJsonBytes(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw parseError('Parse error: the body is not UTF-8');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw parseError('Parse error: Invalid JSON');
  }
}

function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= maxBytes) return void chunks.push(chunk);
      // What follows is read and thrown away, so that the client sees the answer and not a broken connection.
      req.off('data', onData).resume();
      chunks.length = 0;
      reject(tooLarge(maxBytes));
    };
    const onLost = (): void => {
      if (!req.complete) reject(parseError('Parse error: the body ended early'));
    };
    req.on('data', onData);
    req.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    req.on('error', onLost);
    req.on('close', onLost);
  });
}

function tooLarge(maxBytes: number): ProtocolError {
  return new ProtocolError(errorCodes.refused, `Request body too large: at most ${maxBytes} bytes are read`, {
    httpStatus: 413,
  });
}

function parseError(message: string): ProtocolError {
  return new ProtocolError(errorCodes.parse, message, { httpStatus: 400 });
}
