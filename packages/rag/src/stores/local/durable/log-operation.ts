import type { IndexHeader, IndexOperation, IndexRow } from '../index-operation.js';

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
      const rows = toJson(operation.rows);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(rows.byteLength);
      return Buffer.concat([type, length, rows, operation.vectors]);
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
      const rows = fromJson(bytes.subarray(5, end)) as IndexRow[];
      const vectors = bytes.subarray(end);
      if (rows.length > 0 && vectors.length % (4 * rows.length) !== 0)
        throw new TypeError('the vectors do not fit the records');
      return { type: 'upsert', rows, vectors };
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
