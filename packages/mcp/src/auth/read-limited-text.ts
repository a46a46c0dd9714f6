import { QuiverError } from '@quiver/core';

/** The largest response of an OAuth endpoint: 1 MiB. */
const maxResponseBytes = 1024 * 1024;

/**
 * Reads the text of a response.
 *
 * @throws `OAUTH_ANSWER_TOO_LARGE` as soon as `maxBytes` are exceeded; the rest is not read
 */
export async function readLimitedText(response: Response, maxBytes: number = maxResponseBytes): Promise<string> {
  if (!response.body) return response.text();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) {
      // Not awaited: one half of a cloned body is canceled only when the other is, too.
      reader.cancel().catch(() => {});
      throw new QuiverError(
        'OAUTH_ANSWER_TOO_LARGE',
        `Discarded the OAuth server's response: it exceeds ${maxBytes} bytes.`,
      );
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString('utf8');
}
