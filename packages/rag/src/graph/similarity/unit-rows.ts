import { dot } from '../../stores/local/vector-table.js';

/** Vectors of any length, compared by their directions. */
export class UnitRows {
  readonly count: number;
  readonly dimension: number;
  /** As it was given. */
  readonly vector: (row: number) => Float32Array;
  /** What gives each row length 1; 0 for one without direction. */
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

  /** Cosine similarity as a 32-bit number, in [-1, 1]; 0 without direction. */
  similarity(row: number, other: number): number {
    const product = dot(this.vector(row), 0, this.vector(other), this.dimension);
    return Math.max(-1, Math.min(1, Math.fround(product * (this.factor(row) * this.factor(other)))));
  }
}
