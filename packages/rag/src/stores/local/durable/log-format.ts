import { invalidOptions } from '@quiver/core/internal';
import * as zlib from 'node:zlib';
import type { IndexHeader, IndexOperation, LoadOperation, UpsertOperation } from '../local-index.js';
import { bytesOf } from '../../../vectors/vector-table.js';

/** Payload length, CRC of the payload, CRC of these two: three 32-bit numbers, little-endian. */
export const headerLength = 12;
/** Length of the type of an `upsert` and of the lengths behind it. */
export const upsertHeadLength = 9;
const maxPayloadLength = 0x7f_ff_ff_ff;
const formatVersion = 2;

/** The first entry of a log. */
interface CreateOperation {
  readonly type: 'create';
  readonly header: IndexHeader;
}

/** An entry of an index's log: the description of the index, then its changes. */
export type LogOperation = CreateOperation | IndexOperation;

/** An entry that was read. */
export type ReadOperation = CreateOperation | Exclude<IndexOperation, UpsertOperation> | LoadOperation;

/** The first byte of a payload. */
export const entryTypes = { create: 1, upsert: 2, delete: 3, truncate: 4 } as const;

/**
 * Encodes an operation as a header and a payload: a byte for its type, then JSON. The payload of `upsert` has after its type the lengths of two parts
 * of JSON, these parts (ids and ends of the rows; the rows one after another), and the vectors as 32-bit floats. Numbers are little-endian and of 32 bits.
 *
 * @throws `OPTIONS_INVALID` over 2 GiB
 */
export function encodeEntry(operation: LogOperation): Buffer {
  const parts = encodePayload(operation);
  const length = parts.reduce((sum, part) => sum + part.byteLength, 1);
  if (length > maxPayloadLength) throw invalidOptions('One upsert must stay below 2 GiB; split it into several.');
  const header = Buffer.alloc(headerLength + 1);
  header[headerLength] = entryTypes[operation.type];
  const entry = Buffer.concat([header, ...parts]);
  entry.writeUInt32LE(length, 0);
  entry.writeUInt32LE(crc32(entry.subarray(headerLength)), 4);
  entry.writeUInt32LE(crc32(entry.subarray(0, 8)), 8);
  return entry;
}

function encodePayload(operation: LogOperation): Uint8Array[] {
  switch (operation.type) {
    case 'create':
      return [toJson({ format: 'quiver-local-index', version: formatVersion, ...operation.header })];
    case 'delete':
      return [toJson(operation.ids)];
    case 'truncate':
      return [];
    case 'upsert': {
      const rows = operation.rows.map(toJson);
      let end = 0;
      const ends = rows.map(({ byteLength }) => (end += byteLength));
      const head = toJson({ ids: operation.rows.map(({ id }) => id), ends });
      const lengths = new Uint32Array([head.byteLength, end]);
      return [bytesOf(lengths), head, ...rows, ...operation.vectors.map(bytesOf)];
    }
  }
}

/** Returns the CRC of the payload from the header of an entry. */
export function checksumOf(entry: Buffer): number {
  return entry.readUInt32LE(4);
}

/** Decodes the payload of an entry without vectors. @throws Error when {@link encodeEntry} did not write it */
export function decodePayload(bytes: Buffer): Exclude<ReadOperation, LoadOperation> {
  switch (bytes[0]) {
    case entryTypes.create: {
      const { format, version, ...header } = fromJson(bytes.subarray(1)) as IndexHeader & {
        format: string;
        version: number;
      };
      if (format !== 'quiver-local-index' || version !== formatVersion) {
        throw new TypeError(
          `the format is ${format} ${version}, this version of Quiver reads quiver-local-index ${formatVersion}`,
        );
      }
      return { type: 'create', header };
    }
    case entryTypes.delete:
      return { type: 'delete', ids: fromJson(bytes.subarray(1)) as string[] };
    case entryTypes.truncate:
      return { type: 'truncate' };
    case entryTypes.upsert:
      throw otherDimension();
    default:
      throw new TypeError(`unknown operation ${bytes[0]}`);
  }
}

/**
 * Decodes the ids of an `upsert`, and each row when it is needed.
 *
 * @param text - what is before the vectors
 * @param vectors - numbers of the rows with the vectors
 */
export function decodeUpsert(text: Buffer, vectors: readonly number[]): LoadOperation {
  const start = upsertHeadLength + text.readUInt32LE(1);
  const { ids, ends } = fromJson(text.subarray(upsertHeadLength, start)) as { ids: string[]; ends: number[] };
  if (ids.length !== vectors.length) throw otherDimension();
  const endOf = (place: number): number => start + (ends[place] ?? 0);
  const rows = ids.map((id, place) => ({ id, text, start: endOf(place - 1), end: endOf(place) }));
  return { type: 'upsert', rows, vectors };
}

function otherDimension(): TypeError {
  return new TypeError('the vectors do not have the dimension of the index');
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
 * CRC-32 (IEEE 802.3), by Node's own function where it has one (20.15, 22.2 and newer).
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
