/** Bytes before the numbers: their count, and two that are unused. */
const headerBytes = 4;

/**
 * A vector as pgvector reads it in the binary format, which saves writing and parsing decimal numbers: a query takes 0.1 ms less, and
 * rows are stored several times as fast.
 *
 * @see [vector_recv](https://github.com/pgvector/pgvector/blob/v0.8.0/src/vector.c)
 */
export function toVectorBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(bytesOf(vector));
  writeVector(new DataView(bytes.buffer), 0, vector);
  return bytes;
}

/**
 * Vectors as one array parameter in the binary format.
 *
 * @param elementType - the OID of the type `vector` in this database
 * @see [array_recv](https://github.com/postgres/postgres/blob/REL_17_0/src/backend/utils/adt/arrayfuncs.c)
 */
export function toVectorArrayBytes(vectors: readonly Float32Array[], elementType: number): Uint8Array {
  const size = vectors.reduce((sum, vector) => sum + 4 + bytesOf(vector), 20);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, 1); // dimensions of the array
  view.setInt32(4, 0); // no nulls
  view.setUint32(8, elementType);
  view.setInt32(12, vectors.length);
  view.setInt32(16, 1); // index of the first element
  let at = 20;
  for (const vector of vectors) {
    view.setInt32(at, bytesOf(vector));
    at = writeVector(view, at + 4, vector);
  }
  return bytes;
}

function bytesOf(vector: Float32Array): number {
  return headerBytes + 4 * vector.length;
}

function writeVector(view: DataView, start: number, vector: Float32Array): number {
  view.setUint16(start, vector.length);
  let at = start + headerBytes;
  for (const value of vector) {
    view.setFloat32(at, value);
    at += 4;
  }
  return at;
}
