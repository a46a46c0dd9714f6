import type { FileHandle } from 'node:fs/promises';
import { QuiverError } from '@quiver/core';
import type { ReservedRows } from '../../../vectors/vector-table.js';
import { type BlockReader, createBlockReader } from './block-reader.js';
import {
  checksumOf,
  crc32,
  decodePayload,
  decodeUpsert,
  entryTypes,
  headerLength,
  upsertHeadLength,
  type ReadOperation,
} from './log-format.js';

export interface LogRange {
  /** Name of the file, for messages. */
  file: string;
  handle: FileHandle;
  /** In bytes. */
  start: number;
  /** Length of the file in bytes. */
  end: number;
}

/** Receives the entries of a log. */
export interface LogTarget {
  /**
   * Returns where the vectors of the next rows go, so that they are read to their place: a copy of 154 MB takes 125 ms of CPU time, most
   * of it for new memory.
   *
   * @returns `undefined` for bytes that are not vectors of the index, and before there is an index
   */
  reserve(byteLength: number): ReservedRows | undefined;
  /**
   * Applies an entry whose checksum is right.
   *
   * @param checksum - CRC of the payload
   * @param end - of the entry, in bytes of the file
   */
  apply(operation: ReadOperation, checksum: number, end: number): void;
}

/** An entry that was read. */
interface Entry {
  /** Position of the next entry. */
  readonly next: number;
  /** From the header. */
  readonly checksum: number;
  /** CRC of the bytes that were read. */
  readonly found: number;
  readonly decode: () => ReadOperation;
}

/**
 * Applies every complete entry. The rest is a write that was cut off by a crash: a part of a header or payload, or the zeros that some
 * file systems leave.
 *
 * @throws `VECTOR_STORE_CORRUPT` when complete entries have changed: no entry is skipped silently
 */
export async function readEntries({ file, handle, start, end }: LogRange, target: LogTarget): Promise<void> {
  const reader = createBlockReader(handle, end - start);
  let position = start;
  for (let entry = await readEntry(start); entry; entry = await readEntry(position)) {
    const { checksum, found, next, decode } = entry;
    if (found !== checksum) {
      // The length reached the disk before the data did: possible only for the very last write.
      if (next === end) return;
      throw corrupt(file, position, 'an entry does not match its checksum');
    }
    try {
      target.apply(decode(), checksum, next);
    } catch (error) {
      throw corrupt(file, position, `an entry cannot be read: ${(error as Error).message}`, error);
    }
    position = next;
  }

  /** @returns `undefined` behind the last complete entry */
  async function readEntry(at: number): Promise<Entry | undefined> {
    if (at + headerLength > end) return undefined;
    const header = await reader.readAt(at, headerLength + upsertHeadLength);
    if (crc32(header.subarray(0, 8)) !== header.readUInt32LE(8)) {
      if (await isZero(reader, at, end)) return undefined;
      throw corrupt(file, at, 'the header of an entry does not match its checksum');
    }
    const length = header.readUInt32LE(0);
    const payload = at + headerLength;
    const entry = { next: payload + length, checksum: checksumOf(header) };
    if (entry.next > end) return undefined;
    const isUpsert = length >= upsertHeadLength && header[headerLength] === entryTypes.upsert;
    const textLength = isUpsert
      ? upsertHeadLength + header.readUInt32LE(headerLength + 1) + header.readUInt32LE(headerLength + 5)
      : length;
    const vectors = textLength < length ? target.reserve(length - textLength) : undefined;
    if (!vectors) {
      const bytes = await reader.readAt(payload, length);
      return { ...entry, found: crc32(bytes), decode: () => decodePayload(bytes) };
    }
    // A copy: the next read replaces the bytes.
    const text = Buffer.from(await reader.readAt(payload, textLength));
    let found = crc32(text);
    let place = payload + textLength;
    for (const part of vectors.parts) {
      await reader.readInto(place, part);
      found = crc32(part, found);
      place += part.byteLength;
    }
    return { ...entry, found, decode: () => decodeUpsert(text, vectors.rows) };
  }
}

async function isZero({ readAt }: BlockReader, start: number, end: number): Promise<boolean> {
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
