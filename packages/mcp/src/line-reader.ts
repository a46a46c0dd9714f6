export interface LineReaderOptions {
  /** The longest line, in bytes. */
  readonly maxBytes: number;
  /** Called with every line that is not empty, without its end. */
  readonly onLine: (line: string) => void;
  /** Called once per line that is too long; its bytes are dropped. */
  readonly onTooLong: () => void;
}

const newline = 0x0a;

/**
 * Cuts chunks of bytes into lines of UTF-8. Chunks may end anywhere, also within a character; `\r\n` ends a line too. At most
 * `maxBytes` are held.
 */
export function createLineReader({ maxBytes, onLine, onTooLong }: LineReaderOptions): (chunk: Buffer) => void {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let dropping = false;

  const take = (part: Buffer, ends: boolean): void => {
    if (!dropping && pendingBytes + part.length > maxBytes) {
      dropping = true;
      pending = [];
      pendingBytes = 0;
      onTooLong();
    }
    if (!ends) {
      if (dropping) return;
      pending.push(part);
      pendingBytes += part.length;
      return;
    }
    if (dropping) {
      dropping = false;
      return;
    }
    const line = (pending.length === 0 ? part : Buffer.concat([...pending, part])).toString('utf8').trimEnd();
    pending = [];
    pendingBytes = 0;
    if (line !== '') onLine(line);
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end), true);
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start), false);
  };
}
