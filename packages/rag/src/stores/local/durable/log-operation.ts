import type { CheckedRecord } from '../../../store/check-arguments.js';
import type { IndexHeader, IndexOperation } from '../local-index.js';

/** One entry of an index's log: what the index is, then its changes. */
export type LogOperation = { readonly type: 'create'; readonly header: IndexHeader } | IndexOperation;

/** The first byte of an encoded operation. Numbers are never reused. */
const types = { create: 1, upsert: 2, delete: 3, truncate: 4 } as const;

/**
 * Encodes an operation: a byte for its type, then JSON; for `upsert` a 32-bit length of the JSON before it, and the vectors as
 * 32-bit floats after it. Numbers are little-endian.
 */
export function encodeOperation(operation: LogOperation): Uint8Array {
  const type = Buffer.of(types[operation.type]);
  switch (operation.type) {
    case 'create':
      return Buffer.concat([type, toJson({ format: 'quiver-local-index', version: 1, ...operation.header })]);
    case 'delete':
      return Buffer.concat([type, toJson(operation.ids)]);
    case 'truncate':
      return type;
    case 'upsert': {
      const rows = toJson(operation.records.map(({ id, metadata, document }) => ({ id, metadata, document })));
      const length = Buffer.alloc(4);
      length.writeUInt32LE(rows.byteLength);
      return Buffer.concat([type, length, rows, ...operation.records.map(({ vector }) => toBytes(vector))]);
    }
  }
}

/** @throws TypeError when the bytes are not an operation that {@link encodeOperation} wrote */
export function decodeOperation(bytes: Buffer): LogOperation {
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
      const rows = fromJson(bytes.subarray(5, end)) as Omit<CheckedRecord, 'vector'>[];
      const vectors = toFloats(bytes.subarray(end));
      const dimension = vectors.length / rows.length;
      if (rows.length > 0 && !Number.isInteger(dimension)) throw new TypeError('the vectors do not fit the records');
      const records = rows.map((row, position) => ({
        ...row,
        vector: vectors.subarray(position * dimension, (position + 1) * dimension),
      }));
      return { type: 'upsert', records };
    }
    default:
      throw new TypeError(`unknown operation ${bytes[0]}`);
  }
}

function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

function fromJson(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString('utf8')) as unknown;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function toBytes(vector: Float32Array): Buffer {
  if (isLittleEndian) return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  const bytes = Buffer.alloc(vector.byteLength);
  vector.forEach((value, position) => bytes.writeFloatLE(value, position * 4));
  return bytes;
}

/** A copy: the bytes of a log entry are not aligned for 32-bit floats. */
function toFloats(bytes: Buffer): Float32Array {
  if (bytes.byteLength % 4 !== 0) throw new TypeError('the vectors are cut off');
  if (isLittleEndian) return new Float32Array(Uint8Array.from(bytes).buffer);
  return Float32Array.from({ length: bytes.byteLength / 4 }, (_, position) => bytes.readFloatLE(position * 4));
}
