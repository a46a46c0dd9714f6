import type { FileHandle } from 'node:fs/promises';

/** Larger than most entries without their vectors, and small enough for the processor's cache. */
const blockSize = 1 << 18;

/** Reads a file from front to back in blocks. */
export interface BlockReader {
  /** Reads `length` bytes at `position`; fewer only at the end of the file. They are valid until the next read. */
  readAt(position: number, length: number): Promise<Buffer>;
  /** Fills the bytes with those at `position`. Bytes outside the block are read without a copy. */
  readInto(position: number, bytes: Uint8Array): Promise<void>;
}

/** @param expected - bytes to read in total. A reader that follows a writer reads few bytes at a time, without a whole block for them */
export function createBlockReader(handle: FileHandle, expected: number = blockSize): BlockReader {
  let buffer = Buffer.allocUnsafe(Math.min(blockSize, expected));
  /** Range of the file in the buffer. */
  let [from, to] = [0, 0];
  return {
    async readAt(position, length) {
      if (position < from || position + length > to) {
        if (length > buffer.byteLength) buffer = Buffer.allocUnsafe(length);
        from = position;
        to = position + (await readFully(handle, buffer, position));
      }
      return buffer.subarray(position - from, Math.min(position + length, to) - from);
    },
    async readInto(position, bytes) {
      const known = position < from ? 0 : Math.max(0, Math.min(to - position, bytes.byteLength));
      bytes.set(buffer.subarray(position - from, position - from + known));
      if (known < bytes.byteLength) await readFully(handle, bytes.subarray(known), position + known);
    },
  };
}

/** @returns how many bytes were there */
async function readFully(handle: FileHandle, bytes: Uint8Array, position: number): Promise<number> {
  let done = 0;
  while (done < bytes.byteLength) {
    const { bytesRead } = await handle.read(bytes, done, bytes.byteLength - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}
