import { dot } from '../stores/local/vector-table.js';

/** Vectors of any length, compared by their directions. */
export class UnitRows {
  readonly count: number;
  readonly dimension: number;
  /** Returns a vector unchanged. */
  readonly vector: (row: number) => Float32Array;
  /** Factor that gives each row length 1; 0 for a row without direction. */
  readonly #factors: Float64Array;

  constructor(count: number, dimension: number, vector: (row: number) => Float32Array) {
    this.count = count;
    this.dimension = dimension;
    this.vector = vector;
    this.#factors = new Float64Array(count);
    for (let row = 0; row < count; row += 1) {
      const numbers = vector(row);
      const length = Math.sqrt(dot(numbers, 0, numbers, dimension));
      this.#factors[row] = length === 0 ? 0 : 1 / length;
    }
  }

  factor(row: number): number {
    return this.#factors[row] as number;
  }

  /** Returns the cosine similarity as a 32-bit number in [-1, 1]; 0 without direction. */
  similarity(row: number, other: number): number {
    const product = dot(this.vector(row), 0, this.vector(other), this.dimension);
    return Math.max(-1, Math.min(1, Math.fround(product * (this.factor(row) * this.factor(other)))));
  }
}

/** Returns 64 bits that equal vectors share, and different ones only by accident. Equal on every machine. */
export function fingerprint(vector: Float32Array): bigint {
  const bits = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let place = 0; place < bits.length; place += 1) {
    const value = bits[place] as number;
    low = Math.imul(low ^ value, 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high ^ value, 0x85ebca6b);
    high ^= high >>> 13;
  }
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}
