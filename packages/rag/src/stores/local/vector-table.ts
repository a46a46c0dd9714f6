import { type Candidate, TopK } from '../../retrieval/top-k.js';
import { QuantizedRows } from '../../simd/quantized-rows.js';
import type { VectorMetric } from '../../store/vector-store.js';

const rowsPerSegment = 4096;
/** From this number on, two or three queries pay for the conversion: 250 rows of 1536 numbers take 0.8 ms without, 0.2 ms with it. */
const minQuantized = 250;

/**
 * Vectors of one length in rows of large arrays. Rows are dense: removing one moves the last row into its place, so row numbers
 * are valid only until the next removal.
 */
export class VectorTable {
  readonly dimension: number;
  readonly metric: VectorMetric;
  readonly #segments: Float32Array[] = [];
  /** The bytes of the segments. Views of each row would cost more than its copy. */
  readonly #bytes: Uint8Array[] = [];
  /** Length of each row, −1 until it is needed. */
  readonly #norms: Float64Array[] = [];
  #quantized: QuantizedRows | undefined;
  #count = 0;

  constructor(dimension: number, metric: VectorMetric) {
    this.dimension = dimension;
    this.metric = metric;
  }

  get count(): number {
    return this.#count;
  }

  /** Stores a vector in a row, or in the next one after the last. @param vector - 32-bit floats, or their bytes */
  set(row: number, vector: Float32Array | Uint8Array): void {
    if (row === this.#count) {
      if (row === this.#segments.length * rowsPerSegment) {
        const numbers = new Float32Array(rowsPerSegment * this.dimension);
        this.#segments.push(numbers);
        this.#bytes.push(bytesOf(numbers));
        this.#norms.push(new Float64Array(rowsPerSegment));
      }
      this.#count += 1;
    }
    const segment = Math.floor(row / rowsPerSegment);
    const place = row % rowsPerSegment;
    const bytes = vector instanceof Uint8Array ? vector : bytesOf(vector);
    (this.#bytes[segment] as Uint8Array).set(bytes, place * this.dimension * Float32Array.BYTES_PER_ELEMENT);
    (this.#norms[segment] as Float64Array)[place] = -1;
    if (this.#quantized?.reserve(this.#count) === false) this.#quantized = undefined;
    this.#quantized?.set(row, this.row(row));
  }

  /** A view, not a copy. */
  row(row: number): Float32Array {
    const segment = this.#segments[Math.floor(row / rowsPerSegment)];
    if (!segment || row >= this.#count) throw new RangeError(`There is no row ${row}.`);
    const start = (row % rowsPerSegment) * this.dimension;
    return segment.subarray(start, start + this.dimension);
  }

  norm(row: number): number {
    const norms = this.#norms[Math.floor(row / rowsPerSegment)] as Float64Array;
    const place = row % rowsPerSegment;
    const known = norms[place] as number;
    if (known >= 0) return known;
    const vector = this.row(row);
    return (norms[place] = Math.sqrt(dot(vector, 0, vector, this.dimension)));
  }

  /** Removes a row; the last one takes its place. @returns the row that moved, `undefined` when it was the last itself */
  remove(row: number): number | undefined {
    const last = this.#count - 1;
    if (row !== last) this.set(row, this.row(last));
    this.#count = last;
    const used = Math.ceil(last / rowsPerSegment);
    this.#segments.length = used;
    this.#bytes.length = used;
    this.#norms.length = used;
    return row === last ? undefined : last;
  }

  /** Compares one row exactly: cosine similarity, dot product, or the negative squared distance. */
  similarity(row: number, query: Float32Array, queryNorm: number): number {
    const segment = this.#segments[Math.floor(row / rowsPerSegment)] as Float32Array;
    const start = (row % rowsPerSegment) * this.dimension;
    if (this.metric === 'euclidean') return -squaredDistance(segment, start, query, this.dimension);
    const product = dot(segment, start, query, this.dimension);
    if (this.metric === 'dotproduct') return product;
    const norms = this.norm(row) * queryNorm;
    return norms === 0 ? 0 : product / norms;
  }

  /** The rows as small integers, made at the first call; for `cosine` the rows have length 1. `undefined` for few rows. */
  quantized(): QuantizedRows | undefined {
    if (this.#quantized || this.#count < minQuantized) return this.#quantized;
    const quantized = QuantizedRows.create(this.dimension, { isUnit: this.metric === 'cosine' });
    if (!quantized?.reserve(this.#count)) return undefined;
    for (let row = 0; row < this.#count; row += 1) quantized.set(row, this.row(row));
    this.#quantized = quantized;
    return quantized;
  }
}

/** Below this share of matching rows, comparing them exactly is faster than estimating all. */
const fewRows = 1 / 16;

export interface NearestRowsOptions {
  table: VectorTable;
  query: Float32Array;
  k: number;
  /** 1 for each row that may be found; default all. */
  allowed?: Uint8Array | undefined;
  /** Decides between rows of equal similarity. */
  idOf: (row: number) => string;
}

/**
 * Returns the `k` rows most similar to a query, best first, exactly.
 *
 * Large tables are first compared as small integers. A row is skipped only if its upper bound is less than the lower bounds of `k` other
 * rows; all others are compared exactly.
 */
export function nearestRows({ table, query, k, allowed, idOf }: NearestRowsOptions): Candidate[] {
  const queryNorm = Math.sqrt(dot(query, 0, query, table.dimension));
  const few = allowed && listIfFew(allowed, table.count * fewRows);
  // With a query of zeros every row is equally similar, and no row can be skipped.
  const quantized = few || queryNorm === 0 ? undefined : table.quantized();
  const rows = quantized
    ? possibleRows({ table, query, k, allowed }, quantized, queryNorm)
    : (few ?? allRows(table, allowed));
  const best = new TopK(k, idOf);
  for (const row of rows) best.offer(row, table.similarity(row, query, queryNorm));
  return best.toSorted();
}

/** Returns the allowed rows, `undefined` if there are many. */
function listIfFew(allowed: Uint8Array, most: number): number[] | undefined {
  const rows: number[] = [];
  for (let row = allowed.indexOf(1); row !== -1; row = allowed.indexOf(1, row + 1)) {
    if (rows.length >= most) return undefined;
    rows.push(row);
  }
  return rows;
}

function* allRows({ count }: VectorTable, allowed: Uint8Array | undefined): Generator<number> {
  for (let row = 0; row < count; row += 1) if (allowed?.[row] !== 0) yield row;
}

function possibleRows(
  { table, query, k, allowed }: Omit<NearestRowsOptions, 'idOf'>,
  quantized: QuantizedRows,
  queryNorm: number,
): number[] {
  // The smallest values that the best rows can have. Their identity does not matter.
  const lowest = new TopK(k, () => '');
  let least = lowest.worst;
  const rows: number[] = [];
  const highest: number[] = [];
  const isEuclidean = table.metric === 'euclidean';
  const factor = table.metric === 'cosine' ? 1 / queryNorm : isEuclidean ? 2 : 1;
  for (const block of quantized.estimate(query, factor, table.count)) {
    for (let offset = 0; offset < block.rows; offset += 1) {
      const row = block.firstRow + offset;
      // The negative squared distance is twice the product less both squares.
      const squares = isEuclidean ? table.norm(row) ** 2 + queryNorm ** 2 : 0;
      const rounding = quantized.rounding * squares;
      if ((block.atMost[offset] as number) - squares + rounding < least || allowed?.[row] === 0) continue;
      const { estimate, error } = block.estimate(offset);
      const atMost = estimate - squares + error + rounding;
      if (atMost < least) continue;
      lowest.offer(row, estimate - squares - error - rounding);
      least = lowest.worst;
      rows.push(row);
      highest.push(atMost);
    }
  }
  return rows.filter((_row, position) => (highest[position] as number) >= least);
}

export function dot(matrix: Float32Array, start: number, vector: Float32Array, dimension: number): number {
  let sum = 0;
  for (let at = 0; at < dimension; at += 1) sum += (matrix[start + at] as number) * (vector[at] as number);
  return sum;
}

function squaredDistance(matrix: Float32Array, start: number, vector: Float32Array, dimension: number): number {
  let sum = 0;
  for (let at = 0; at < dimension; at += 1) sum += ((matrix[start + at] as number) - (vector[at] as number)) ** 2;
  return sum;
}

/** A view, not a copy. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
