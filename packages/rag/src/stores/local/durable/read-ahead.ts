import type { FileHandle } from 'node:fs/promises';
import type { ReadAt } from './log-frame.js';

const [firstBlock, largestBlock] = [2 << 20, 8 << 20];

/**
 * Reads a file from front to back in blocks, the next one while the one before is used. What a read returns is valid until the next
 * read. Blocks are small, as what is in the processor's cache is read soonest, but grow with what is asked for.
 */
export function createReadAhead(handle: FileHandle, start: number, end: number): ReadAt {
  let block = Math.min(firstBlock, end - start);
  // In front of each block is room for what was left of the one before.
  let [current, next] = [Buffer.allocUnsafe(2 * block), Buffer.allocUnsafe(2 * block)];
  /** What part of the file `current` holds, and where in it. */
  let [from, to, offset] = [start, start, block];
  let ahead: Promise<number> | undefined;
  const readNext = (): Promise<number> => {
    const reading = readFully(handle, next.subarray(block), to);
    // Whoever reads on gets the error.
    reading.catch(() => undefined);
    return reading;
  };
  return async (position, length) => {
    if (length > largestBlock) {
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, await readFully(handle, bytes, position));
    }
    if (position < from || position > to || length > block) {
      await ahead?.catch(() => undefined);
      if (length > block) {
        block = Math.min(Math.max(2 * block, length), largestBlock);
        [current, next] = [Buffer.allocUnsafe(2 * block), Buffer.allocUnsafe(2 * block)];
      }
      [from, to, offset, ahead] = [position, position, block, undefined];
    }
    while (position + length > to) {
      const added = await (ahead ?? readNext());
      ahead = undefined;
      if (added === 0) break;
      const left = to - position;
      current.copy(next, block - left, offset + position - from, offset + to - from);
      [current, next] = [next, current];
      [from, to, offset] = [position, to + added, block - left];
      if (to < end) ahead = readNext();
    }
    const first = offset + position - from;
    return current.subarray(first, Math.min(first + length, offset + to - from));
  };
}

/** @returns how many bytes were there */
async function readFully(handle: FileHandle, buffer: Buffer, position: number): Promise<number> {
  let done = 0;
  while (done < buffer.byteLength) {
    const { bytesRead } = await handle.read(buffer, done, buffer.byteLength - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}
