import { QuiverError } from '@quiver/core';
import type { Fetch } from '../http/send.js';

/** The largest response of an OAuth endpoint: 1 MiB. */
const maxResponseBytes = 1024 * 1024;

/**
 * Sends one request without following redirects and reads the response.
 *
 * @param timeout - milliseconds until the whole response must have arrived
 * @returns a response whose body is in memory; status 302 for every redirect
 * @throws `OAUTH_ANSWER_TOO_LARGE` for more than 1 MiB; the abort reason at the timeout
 */
export async function limitedFetch(
  fetch: Fetch,
  url: string | URL,
  init: RequestInit,
  timeout: number,
): Promise<Response> {
  const signal = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const { status, statusText, headers } = response;
    if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
      await response.body?.cancel();
      return new Response(null, { status: 302, headers: [...headers] });
    }
    const bytes = await readBytes(response);
    return new Response(bytes.length > 0 ? bytes : null, { status, statusText, headers: [...headers] });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

async function readBytes({ body }: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by an error cancels the body.
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= maxResponseBytes) continue;
    throw new QuiverError(
      'OAUTH_ANSWER_TOO_LARGE',
      `Discarded the OAuth server's response: it exceeds ${maxResponseBytes} bytes.`,
    );
  }
  return Buffer.concat(chunks);
}
