import { QuiverError } from '@quiver/core';
import type { Fetch } from '../fetch.js';

/** The largest response of an OAuth endpoint: 1 MiB. */
const maxResponseBytes = 1024 * 1024;

/**
 * Sends one request without following redirects and reads the response.
 *
 * @param timeout - milliseconds until the whole response must have arrived
 * @returns a response whose body is in memory
 * @throws `OAUTH_ANSWER_TOO_LARGE` for more than 1 MiB; the abort reason at the timeout
 */
export async function limitedFetch(
  fetch: Fetch,
  url: string | URL,
  init: RequestInit,
  timeout: number,
): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeout) });
  const { status, statusText, headers } = response;
  const isRedirect = response.type === 'opaqueredirect' || (status >= 300 && status < 400);
  if (isRedirect) await response.body?.cancel();
  const text = isRedirect ? null : await readText(response);
  const hasBody = text !== null && status !== 204 && status !== 205;
  // `fetch` reports a redirect that it does not follow with status 0 in browsers.
  return new Response(hasBody ? text : null, { status: isRedirect ? 302 : status, statusText, headers: [...headers] });
}

async function readText(response: Response): Promise<string> {
  if (!response.body) return response.text();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxResponseBytes) {
      // Not awaited: the connection may take its time to close.
      reader.cancel().catch(() => {});
      throw new QuiverError(
        'OAUTH_ANSWER_TOO_LARGE',
        `Discarded the OAuth server's response: it exceeds ${maxResponseBytes} bytes.`,
      );
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString('utf8');
}
