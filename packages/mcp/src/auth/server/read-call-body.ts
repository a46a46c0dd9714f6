import type { GateAnswer } from './oauth-gate.js';
import type { ProtectedRequest } from './protected-request.js';

/** The size at which the MCP server itself refuses a body. */
export const maxCallBytes: number = 4 * 1024 * 1024;

export type CallBody = { readonly kind: 'body'; readonly body: unknown } | GateAnswer;

/** Reads the body ahead of the MCP server and leaves it on `req.body`, where the server looks first. */
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
    return { kind: 'answer', status: 400, headers: {} };
  }
  const bytes = Buffer.concat(chunks);
  req.body = bytes;
  return { kind: 'body', body: parsed(bytes) };
}

export const tooLarge: GateAnswer = { kind: 'answer', status: 413, headers: { connection: 'close' } };

/**
 * What cannot be parsed names no tool; the MCP server says what is wrong with it. A byte order mark is overlooked, as some decoders
 * do: whatever any of them reads as a call must be read as one here.
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
