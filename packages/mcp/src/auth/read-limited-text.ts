import { QuiverError } from '@quiver/core';

/**
 * The text of an answer that may not be longer than it should.
 *
 * @throws `OAUTH_ANSWER_TOO_LARGE` as soon as `maxBytes` are exceeded; the rest is not read
 */
export async function readLimitedText(response: Response, maxBytes: number): Promise<string> {
  if (!response.body) return response.text();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) {
      // Not awaited: one half of a cloned body is cancelled only when the other is, too.
      reader.cancel().catch(() => {});
      throw new QuiverError(
        'OAUTH_ANSWER_TOO_LARGE',
        `An OAuth server sent more than ${maxBytes} bytes; nothing of it was used.`,
      );
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString('utf8');
}
