import { QuiverError } from '@quiver/core';
import { crc32 } from './crc32.js';

/** Payload length, CRC of the payload, CRC of these two: three 32-bit numbers, little-endian. */
const headerLength = 12;
const maxPayloadLength = 0x7f_ff_ff_ff;

/** A payload with its length and checksums, to be written in one piece. @throws `VECTOR_ARGUMENT_INVALID` over 2 GiB */
export function toFrame(payload: Uint8Array): [header: Uint8Array, payload: Uint8Array] {
  if (payload.byteLength > maxPayloadLength) {
    throw new QuiverError('VECTOR_ARGUMENT_INVALID', 'One upsert must stay below 2 GiB; split it into several.');
  }
  const header = Buffer.alloc(headerLength);
  header.writeUInt32LE(payload.byteLength, 0);
  header.writeUInt32LE(crc32(payload), 4);
  header.writeUInt32LE(crc32(header.subarray(0, 8)), 8);
  return [header, payload];
}

/** The CRC of the payload that a frame's header holds. */
export function checksumOf(header: Uint8Array): number {
  return new DataView(header.buffer, header.byteOffset).getUint32(4, true);
}

/** Reads `length` bytes at `position`; fewer only at the end of the file. They are valid until the next read. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

export interface ReadFramesOptions {
  readAt: ReadAt;
  /** Where to begin, in bytes. */
  start: number;
  /** Length of the file in bytes. */
  end: number;
  /** For messages. */
  file: string;
  /** @param checksum - the CRC of the payload */
  apply: (payload: Buffer, checksum: number) => void;
}

/**
 * Applies every whole frame and returns where they end. What follows is a write that was cut off by a crash: a part of a
 * header or payload, or the zeros that some file systems leave.
 *
 * @throws `VECTOR_STORE_CORRUPT` when bytes that were once whole have changed: nothing is skipped silently
 */
export async function readFrames({ readAt, start, end, file, apply }: ReadFramesOptions): Promise<number> {
  let position = start;
  while (position + headerLength <= end) {
    const header = await readAt(position, headerLength);
    if (crc32(header.subarray(0, 8)) !== header.readUInt32LE(8)) {
      if (await isZero(readAt, position, end)) return position;
      throw corrupt(file, position, 'the header of an entry does not match its checksum');
    }
    const length = header.readUInt32LE(0);
    const checksum = header.readUInt32LE(4);
    const next = position + headerLength + length;
    if (next > end) return position;
    const payload = await readAt(position + headerLength, length);
    if (crc32(payload) !== checksum) {
      // The length reached the disk before the data did: possible only for the very last write.
      if (next === end) return position;
      throw corrupt(file, position, 'an entry does not match its checksum');
    }
    try {
      apply(payload, checksum);
    } catch (error) {
      throw corrupt(file, position, `an entry cannot be read: ${(error as Error).message}`, error);
    }
    position = next;
  }
  return position;
}

async function isZero(readAt: ReadAt, start: number, end: number): Promise<boolean> {
  const chunk = 1 << 16;
  for (let position = start; position < end; position += chunk) {
    const bytes = await readAt(position, Math.min(chunk, end - position));
    if (bytes.some((byte) => byte !== 0)) return false;
  }
  return true;
}

function corrupt(file: string, position: number, reason: string, cause?: unknown): QuiverError {
  return new QuiverError(
    'VECTOR_STORE_CORRUPT',
    `The index file ${file} is damaged at byte ${position}: ${reason}. Restore it from a backup, or delete it and index again.`,
    { cause, details: { file, position } },
  );
}
