import type { FileHandle } from 'node:fs/promises';
import * as zlib from 'node:zlib';
import { QuiverError } from '@quiver/core';
import type { IndexHeader, IndexOperation, IndexRow, LoadOperation } from '../local-index.js';
import { bytesOf, type ReservedRows } from '../vector-table.js';
import { decodeIds } from './encoded-rows.js';

/** Payload length, CRC of the payload, CRC of these two: three 32-bit numbers, little-endian. */
const headerLength = 12;
const maxPayloadLength = 0x7f_ff_ff_ff;

/** An entry of an index's log: the description of the index, then its changes. */
export type LogOperation = { readonly type: 'create'; readonly header: IndexHeader } | IndexOperation;

/** The first byte of a payload. Numbers are never reused. */
const types = { create: 1, upsert: 2, delete: 3, truncate: 4 } as const;

/**
 * Encodes an operation as a header and a payload: a byte for its type, then JSON; for `upsert` a 32-bit length of the JSON before it, and
 * the vectors as 32-bit floats after it. Numbers are little-endian.
 *
 * @throws `VECTOR_ARGUMENT_INVALID` over 2 GiB
 */
export function encodeEntry(operation: LogOperation): Buffer {
  const parts = encodePayload(operation);
  const length = parts.reduce((sum, part) => sum + part.byteLength, 1);
  if (length > maxPayloadLength)
    throw new QuiverError('VECTOR_ARGUMENT_INVALID', 'One upsert must stay below 2 GiB; split it into several.');
  const header = Buffer.alloc(headerLength + 1);
  header[headerLength] = types[operation.type];
  const entry = Buffer.concat([header, ...parts]);
  entry.writeUInt32LE(length, 0);
  entry.writeUInt32LE(crc32(entry.subarray(headerLength)), 4);
  entry.writeUInt32LE(crc32(entry.subarray(0, 8)), 8);
  return entry;
}

function encodePayload(operation: LogOperation): Uint8Array[] {
  switch (operation.type) {
    case 'create':
      return [toJson({ format: 'quiver-local-index', version: 1, ...operation.header })];
    case 'delete':
      return [toJson(operation.ids)];
    case 'truncate':
      return [];
    case 'upsert': {
      const rows = toJson(operation.rows);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(rows.byteLength);
      return [length, rows, ...operation.vectors];
    }
  }
}

/** Returns the CRC of the payload from the header of an entry. */
export function checksumOf(entry: Buffer): number {
  return entry.readUInt32LE(4);
}

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
   * @param after - rows before them that are not stored yet
   * @returns `undefined` for few rows, for bytes that are not vectors of the index, and before there is an index
   */
  reserve(byteLength: number, after: ReservedRows | undefined): ReservedRows | undefined;
  /**
   * Applies an entry whose checksum is right.
   *
   * @param checksum - CRC of the payload
   * @returns `false` if rows of a {@link LoadOperation} are not at the place of their vectors, because others were replaced
   */
  apply(operation: LogOperation | LoadOperation, checksum: number): boolean;
}

/** An entry that was read, except for vectors that are still being read to their place. */
interface PendingEntry {
  readonly position: number;
  /** Position of the next entry. */
  readonly next: number;
  /** From the header. */
  readonly checksum: number;
  /** CRC of the bytes that were read. */
  readonly found: number;
  readonly decode: () => LogOperation | LoadOperation;
  readonly vectors?: ReservedRows;
  /** Settles when the vectors are there. */
  readonly reading?: Promise<void>;
}

/**
 * Applies every complete entry and returns the end of the last one. The rest is a write that was cut off by a crash: a part of a
 * header or payload, or the zeros that some file systems leave.
 *
 * @throws `VECTOR_STORE_CORRUPT` when complete entries have changed: no entry is skipped silently
 */
export async function readEntries({ file, handle, start, end }: LogRange, target: LogTarget): Promise<number> {
  const reader = createBlockReader(handle, end - start);
  let position = start;
  let isInPlace = true;
  let entry = await readEntry(position);
  while (entry) {
    // The next entry is read while this one arrives and is checked. Not after rows that were replaced: their place would be left free.
    const following = entry.vectors && isInPlace ? readEntry(entry.next, entry.vectors) : undefined;
    // An error of this entry comes first.
    following?.catch(() => {});
    await entry.reading;
    const { checksum, next } = entry;
    if ((entry.vectors?.parts ?? []).reduce((found, part) => crc32(part, found), entry.found) !== checksum) {
      // The length reached the disk before the data did: possible only for the very last write.
      if (next === end) return position;
      throw corrupt(file, position, 'an entry does not match its checksum');
    }
    try {
      isInPlace = target.apply(entry.decode(), checksum);
    } catch (error) {
      throw corrupt(file, position, `an entry cannot be read: ${(error as Error).message}`, error);
    }
    position = next;
    entry = await (following ?? readEntry(position));
  }
  return position;

  /** @returns `undefined` behind the last complete entry */
  async function readEntry(position: number, after?: ReservedRows): Promise<PendingEntry | undefined> {
    if (position + headerLength > end) return undefined;
    const header = await reader.readAt(position, headerLength + 5);
    if (crc32(header.subarray(0, 8)) !== header.readUInt32LE(8)) {
      if (await isZero(reader, position, end)) return undefined;
      throw corrupt(file, position, 'the header of an entry does not match its checksum');
    }
    const length = header.readUInt32LE(0);
    const place = { position, next: position + headerLength + length, checksum: checksumOf(header) };
    if (place.next > end) return undefined;
    const payloadStart = position + headerLength;
    const isUpsert = length >= 5 && header[headerLength] === types.upsert;
    // Without the vectors.
    const headLength = isUpsert ? 5 + header.readUInt32LE(headerLength + 1) : length;
    const reserved = headLength < length ? target.reserve(length - headLength, after) : undefined;
    if (!reserved) {
      const payload = await reader.readAt(payloadStart, length);
      return { ...place, found: crc32(payload), decode: () => decodePayload(payload) };
    }
    const head = await reader.readAt(payloadStart, headLength);
    const reading = reader.readInto(payloadStart + headLength, reserved.parts);
    reading.catch(() => {});
    // The next read replaces the bytes.
    const decode = attempt(() => decodeRows(head.subarray(5), reserved));
    return { ...place, found: crc32(head), decode, vectors: reserved, reading };
  }
}

/** Runs work, and returns a function that returns its result or throws its error. */
function attempt<Result>(work: () => Result): () => Result {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
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

/** @throws TypeError when the bytes are not an operation that {@link encodeEntry} wrote */
function decodePayload(bytes: Buffer): LogOperation {
  switch (bytes[0]) {
    case types.create: {
      const { format, version, ...header } = fromJson(bytes.subarray(1)) as IndexHeader & {
        format: string;
        version: number;
      };
      if (format !== 'quiver-local-index' || version !== 1) {
        throw new TypeError(`the format is ${format} ${version}, this version of Quiver reads quiver-local-index 1`);
      }
      return { type: 'create', header };
    }
    case types.delete:
      return { type: 'delete', ids: fromJson(bytes.subarray(1)) as string[] };
    case types.truncate:
      return { type: 'truncate' };
    case types.upsert: {
      const end = 5 + bytes.readUInt32LE(1);
      const json = bytes.subarray(5, end);
      const numbers = bytesOf(bytes.subarray(end));
      const rows = fromJson(json) as IndexRow[];
      const size = rows.length === 0 ? 0 : numbers.length / rows.length;
      if (size % 4 !== 0) throw new TypeError('the vectors do not fit the records');
      const vectors = rows.map((_row, place) => numbers.subarray(place * size, (place + 1) * size));
      return { type: 'upsert', rows, vectors };
    }
    default:
      throw new TypeError(`unknown operation ${bytes[0]}`);
  }
}

/** @throws TypeError when the rows are not as many as their vectors */
function decodeRows(json: Buffer, vectors: ReservedRows): LoadOperation {
  const rows = decodeIds(json, vectors.count) ?? (fromJson(json) as IndexRow[]);
  if (rows.length !== vectors.count) throw new TypeError('the vectors do not have the dimension of the index');
  return { type: 'load', rows, vectors };
}

function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

function fromJson(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString('utf8')) as unknown;
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1;
  return value >>> 0;
});

/**
 * CRC-32 (IEEE 802.3), by Node's own function where it has one (22.2 and newer).
 *
 * @param before - CRC of the bytes before these
 */
export function crc32(bytes: Uint8Array, before = 0): number {
  if ('crc32' in zlib) return zlib.crc32(bytes, before);
  return crc32InScript(bytes, before);
}

/** The same in JavaScript. */
export function crc32InScript(bytes: Uint8Array, before = 0): number {
  let value = ~before;
  for (let index = 0; index < bytes.length; index += 1) {
    value = (value >>> 8) ^ (table[(value ^ (bytes[index] as number)) & 0xff] as number);
  }
  return ~value >>> 0;
}

/** Larger than most entries without their vectors, and small enough for the processor's cache. */
const blockSize = 1 << 18;

/** Reads a file from front to back in blocks. */
export interface BlockReader {
  /** Reads `length` bytes at `position`; fewer only at the end of the file. They are valid until the next read. */
  readAt(position: number, length: number): Promise<Buffer>;
  /** Fills the parts with the bytes at `position`. Bytes outside the block are read without a copy. */
  readInto(position: number, parts: readonly Uint8Array[]): Promise<void>;
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
    async readInto(position, parts) {
      const reads = [];
      for (const part of parts) {
        const known = position < from ? 0 : Math.max(0, Math.min(to - position, part.byteLength));
        part.set(buffer.subarray(position - from, position - from + known));
        if (known < part.byteLength) reads.push(readFully(handle, part.subarray(known), position + known));
        position += part.byteLength;
      }
      await Promise.all(reads);
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
