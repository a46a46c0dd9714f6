import type { VectorMetric } from '../../store/vector-store.js';

const rowsPerSegment = 4096;

/**
 * Vectors of one length in rows of large arrays, for an exact scan. Rows are dense: removing one moves the last row into its
 * place, so row numbers are valid only until the next removal.
 */
export class VectorTable {
  readonly dimension: number;
  readonly #metric: VectorMetric;
  readonly #segments: Float32Array[] = [];
  /** 1 / length of each row; 0 for a zero vector. Only cosine needs it. */
  readonly #inverseNorms: Float64Array[] = [];
  #count = 0;

  constructor(dimension: number, metric: VectorMetric) {
    this.dimension = dimension;
    this.#metric = metric;
  }

  get count(): number {
    return this.#count;
  }

  /** @returns the new row */
  append(vector: Float32Array): number {
    const row = this.#count;
    if (row % rowsPerSegment === 0 && row / rowsPerSegment === this.#segments.length) {
      this.#segments.push(new Float32Array(rowsPerSegment * this.dimension));
      if (this.#metric === 'cosine') this.#inverseNorms.push(new Float64Array(rowsPerSegment));
    }
    this.#count += 1;
    this.set(row, vector);
    return row;
  }

  set(row: number, vector: Float32Array): void {
    this.row(row).set(vector);
    const norms = this.#inverseNorms[Math.floor(row / rowsPerSegment)];
    if (!norms) return;
    const norm = Math.sqrt(dot(vector, 0, vector, this.dimension));
    norms[row % rowsPerSegment] = norm === 0 ? 0 : 1 / norm;
  }

  /** A view, not a copy. */
  row(row: number): Float32Array {
    const segment = this.#segments[Math.floor(row / rowsPerSegment)];
    if (!segment || row >= this.#count) throw new RangeError(`There is no row ${row}.`);
    const start = (row % rowsPerSegment) * this.dimension;
    return segment.subarray(start, start + this.dimension);
  }

  /** Removes a row; the last one takes its place. @returns the row that moved, `undefined` when it was the last itself */
  remove(row: number): number | undefined {
    const last = this.#count - 1;
    if (row !== last) this.set(row, this.row(last));
    this.#count = last;
    const spare = Math.ceil(last / rowsPerSegment);
    this.#segments.length = spare;
    if (this.#inverseNorms.length > spare) this.#inverseNorms.length = spare;
    return row === last ? undefined : last;
  }

  /**
   * Compares every row with a query and reports the raw similarity: cosine, dot product, or the negative squared distance.
   *
   * @param accept - rows to compare; default all
   */
  scan(query: Float32Array, visit: (row: number, similarity: number) => void, accept?: (row: number) => boolean): void {
    const { dimension } = this;
    const queryNorm = Math.sqrt(dot(query, 0, query, dimension));
    const queryScale = queryNorm === 0 ? 0 : 1 / queryNorm;
    const euclidean = this.#metric === 'euclidean';
    for (let first = 0; first < this.#count; first += rowsPerSegment) {
      const index = first / rowsPerSegment;
      const segment = this.#segments[index] as Float32Array;
      const norms = this.#inverseNorms[index];
      const rows = Math.min(rowsPerSegment, this.#count - first);
      for (let offset = 0; offset < rows; offset += 1) {
        if (accept && !accept(first + offset)) continue;
        const start = offset * dimension;
        if (euclidean) visit(first + offset, -squaredDistance(segment, start, query, dimension));
        else {
          const product = dot(segment, start, query, dimension);
          visit(first + offset, norms ? product * (norms[offset] as number) * queryScale : product);
        }
      }
    }
  }
}

/** Four sums at once: the additions do not wait for each other. The order is fixed, so equal input gives equal bits. */
function dot(matrix: Float32Array, start: number, vector: Float32Array, dimension: number): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  const whole = dimension - (dimension % 4);
  let position = 0;
  for (; position < whole; position += 4) {
    const at = start + position;
    sum0 += (matrix[at] as number) * (vector[position] as number);
    sum1 += (matrix[at + 1] as number) * (vector[position + 1] as number);
    sum2 += (matrix[at + 2] as number) * (vector[position + 2] as number);
    sum3 += (matrix[at + 3] as number) * (vector[position + 3] as number);
  }
  for (; position < dimension; position += 1)
    sum0 += (matrix[start + position] as number) * (vector[position] as number);
  return sum0 + sum1 + (sum2 + sum3);
}

function squaredDistance(matrix: Float32Array, start: number, vector: Float32Array, dimension: number): number {
  let sum0 = 0;
  let sum1 = 0;
  const whole = dimension - (dimension % 2);
  let position = 0;
  for (; position < whole; position += 2) {
    const difference0 = (matrix[start + position] as number) - (vector[position] as number);
    const difference1 = (matrix[start + position + 1] as number) - (vector[position + 1] as number);
    sum0 += difference0 * difference0;
    sum1 += difference1 * difference1;
  }
  if (position < dimension) {
    const difference = (matrix[start + position] as number) - (vector[position] as number);
    sum0 += difference * difference;
  }
  return sum0 + sum1;
}
