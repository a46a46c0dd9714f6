import { dot } from '../vectors/vector-table.js';

/** Vectors of any length, compared by their directions. */
export class UnitRows {
  readonly vectors: readonly Float32Array[];
  readonly dimension: number;
  /** Factor that gives each row length 1; 0 for a row without direction. */
  readonly factors: Float64Array;
  /** 64 bits of each row that equal vectors share, and different ones only by accident. Equal on every machine. */
  readonly fingerprints: BigUint64Array;
  /** First row with the same vector as each row. */
  readonly twins: Uint32Array;

  constructor(vectors: readonly Float32Array[], dimension: number) {
    this.vectors = vectors;
    this.dimension = dimension;
    this.factors = Float64Array.from(vectors, (vector) => {
      const length = Math.sqrt(dot(vector, 0, vector, dimension));
      return length === 0 ? 0 : 1 / length;
    });
    this.fingerprints = BigUint64Array.from(vectors, fingerprint);
    const firsts = new Map<bigint, number>();
    this.twins = Uint32Array.from(this.fingerprints, (print, row) => {
      const first = firsts.get(print) ?? row;
      firsts.set(print, first);
      return first;
    });
  }

  /** Returns the cosine similarity as a 32-bit number in [-1, 1]; 0 without direction. */
  similarity(row: number, other: number): number {
    const { vectors, factors } = this;
    const product = dot(vectors[row] as Float32Array, 0, vectors[other] as Float32Array, this.dimension);
    const cosine = product * ((factors[row] as number) * (factors[other] as number));
    return Math.max(-1, Math.min(1, Math.fround(cosine)));
  }
}

function fingerprint(vector: Float32Array): bigint {
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  const bits = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  for (let place = 0; place < bits.length; place += 1) {
    const value = bits[place] as number;
    low = Math.imul(low ^ value, 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high ^ value, 0x85ebca6b);
    high ^= high >>> 13;
  }
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}
