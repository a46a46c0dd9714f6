import { QuantizedRows } from '../simd/quantized-rows.js';
import type { VectorMetric } from '../store/vector-store.js';

const rowsPerSegment = 4096;
/** From this number on, two or three queries pay for the conversion: 250 rows of 1536 numbers take 0.8 ms without, 0.2 ms with it. */
const minQuantized = 250;

/** Room for vectors behind the rows of a table. */
export interface ReservedRows {
  /** Their numbers. */
  readonly rows: readonly number[];
  /** Their bytes, in order. Rows of two segments are in two parts. */
  readonly parts: readonly Uint8Array[];
}

/**
 * Vectors of one length in rows of large arrays. Rows are dense: removing one moves the last row into its place, so row numbers
 * are valid only until the next removal.
 */
export class VectorTable {
  readonly dimension: number;
  readonly metric: VectorMetric;
  readonly #segments: Float32Array[] = [];
  /** Length of each row, 0 until it is needed. */
  readonly #norms: Float64Array[] = [];
  #quantized: QuantizedRows | undefined;
  /** How many rows queries compared before there were integers. */
  #compared = 0;
  #count = 0;

  constructor(dimension: number, metric: VectorMetric) {
    this.dimension = dimension;
    this.metric = metric;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Makes room behind all rows, for vectors that are read from a file. {@link set} with their numbers makes them rows, in ascending order: each
   * at its place, or before it.
   */
  reserve(count: number): ReservedRows {
    const first = this.#count;
    const end = first + count;
    this.#makeRoom(end);
    const parts: Uint8Array[] = [];
    for (let row = first; row < end;) {
      const endOfPart = Math.min(row - (row % rowsPerSegment) + rowsPerSegment, end);
      parts.push(bytesOf(this.#rows(row, endOfPart - row)));
      row = endOfPart;
    }
    const rows: number[] = [];
    for (let row = first; row < end; row += 1) rows.push(row);
    return { rows, parts };
  }

  #makeRoom(rows: number): void {
    while (this.#segments.length * rowsPerSegment < rows) {
      this.#segments.push(new Float32Array(rowsPerSegment * this.dimension));
      this.#norms.push(new Float64Array(rowsPerSegment));
    }
  }

  /** Stores a vector in a row, or in the next one after the last. @param vector - or the number of the reserved row with it */
  set(row: number, vector: Float32Array | number): void {
    if (row === this.#count) {
      this.#makeRoom(row + 1);
      this.#count += 1;
    }
    if (vector !== row) this.#rows(row, 1).set(typeof vector === 'number' ? this.#rows(vector, 1) : vector);
    (this.#norms[Math.floor(row / rowsPerSegment)] as Float64Array)[row % rowsPerSegment] = 0;
    if (this.#quantized?.reserve(this.#count) === false) this.#quantized = undefined;
    this.#quantized?.set(row, this.row(row));
  }

  /** A view, not a copy. */
  row(row: number): Float32Array {
    if (row >= this.#count) throw new RangeError(`There is no row ${row}.`);
    return this.#rows(row, 1);
  }

  #rows(first: number, count: number): Float32Array {
    const segment = this.#segments[Math.floor(first / rowsPerSegment)] as Float32Array;
    const start = (first % rowsPerSegment) * this.dimension;
    return segment.subarray(start, start + count * this.dimension);
  }

  norm(row: number): number {
    const norms = this.#norms[Math.floor(row / rowsPerSegment)] as Float64Array;
    const place = row % rowsPerSegment;
    const known = norms[place] as number;
    if (known > 0) return known;
    const vector = this.row(row);
    return (norms[place] = Math.sqrt(dot(vector, 0, vector, this.dimension)));
  }

  /** Removes a row; the last one takes its place. @returns the row that moved, `undefined` when it was the last itself */
  remove(row: number): number | undefined {
    const last = this.#count - 1;
    if (row !== last) this.set(row, last);
    this.#count = last;
    const used = Math.ceil(last / rowsPerSegment);
    this.#segments.length = used;
    this.#norms.length = used;
    return row === last ? undefined : last;
  }

  /** Compares one row exactly: cosine similarity, dot product, or the negative squared distance. */
  similarity(row: number, query: Float32Array, queryNorm: number): number {
    const segment = this.#segments[Math.floor(row / rowsPerSegment)] as Float32Array;
    const start = (row % rowsPerSegment) * this.dimension;
    if (this.metric === 'euclidean') return -squaredDistance(segment, start, query, this.dimension);
    if (this.metric === 'dotproduct') return dot(segment, start, query, this.dimension);
    const norms = this.#norms[Math.floor(row / rowsPerSegment)] as Float64Array;
    const place = row % rowsPerSegment;
    let product = 0;
    if ((norms[place] as number) > 0) product = dot(segment, start, query, this.dimension);
    else {
      // One loop for both sums: the first query of all rows takes half the time.
      let squares = 0;
      for (let at = 0; at < this.dimension; at += 1) {
        const value = segment[start + at] as number;
        product += value * (query[at] as number);
        squares += value * value;
      }
      norms[place] = Math.sqrt(squares);
    }
    const bothNorms = (norms[place] as number) * queryNorm;
    return bothNorms === 0 ? 0 : product / bothNorms;
  }

  /**
   * Returns bounds of products with the rows, from small integers; for `cosine` the rows have length 1. The query makes them by which more rows
   * were compared than there are, so that they pay: the second query of all rows. `undefined` before, and for few rows.
   *
   * @param toCompare - how many rows; default all
   */
  bounded(toCompare: number = this.#count): QuantizedRows | undefined {
    if (this.#quantized || this.#count < minQuantized) return this.#quantized;
    this.#compared += toCompare;
    if (this.#compared <= this.#count) return undefined;
    const quantized = QuantizedRows.create(this.dimension, { isUnit: this.metric === 'cosine' });
    if (!quantized?.reserve(this.#count)) return undefined;
    for (let row = 0; row < this.#count; row += 1) quantized.set(row, this.row(row));
    return (this.#quantized = quantized);
  }
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
