import type { IncomingMessage } from 'node:http';
import type { AuthorizationResponse } from './request-authorizer.js';

/** A request of `node:http` or of a framework on top of it. */
export type ProtectedRequest = IncomingMessage & { auth?: unknown; body?: unknown; originalUrl?: string };

/** The size at which the MCP server itself rejects a body. */
export const maxCallBytes: number = 4 * 1024 * 1024;

export type CallBody = { readonly kind: 'body'; readonly body: unknown } | AuthorizationResponse;

/** Reads the body ahead of the MCP server and sets it as `req.body`, which the server reads first. */
export async function readCallBody(req: ProtectedRequest): Promise<CallBody> {
  if (req.body !== undefined) return { kind: 'body', body: parsed(req.body) };
  if (Number(req.headers['content-length'] ?? 0) > maxCallBytes) return tooLarge;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of req as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > maxCallBytes) return tooLarge;
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'response', status: 400, headers: {} };
  }
  const bytes = Buffer.concat(chunks);
  req.body = bytes;
  return { kind: 'body', body: parsed(bytes) };
}

export const tooLarge: AuthorizationResponse = { kind: 'response', status: 413, headers: { connection: 'close' } };

/**
 * Parses a body. A body that is not JSON calls no tool; the MCP server rejects it. A byte order mark is skipped, as some decoders do:
 * whatever any of them parses as a call must be parsed as one here.
 */
export function parsed(body: unknown): unknown {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return body;
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch {
    return undefined;
  }
}
