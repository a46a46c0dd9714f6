import { type Candidate, TopK } from '../../retrieval/top-k.js';
import { FloatRows } from '../../simd/float-rows.js';
import { type BlockEstimate, QuantizedRows } from '../../simd/quantized-rows.js';
import type { VectorMetric } from '../../store/vector-store.js';

const rowsPerSegment = 4096;
/** From this number on, two or three queries pay for the conversion: 250 rows of 1536 numbers take 0.8 ms without, 0.2 ms with it. */
const minQuantized = 250;

/** Room for vectors behind the rows of a table. */
export interface ReservedRows {
  readonly first: number;
  readonly count: number;
  /** Their bytes, in order. Rows of two segments are in two parts. */
  readonly parts: Uint8Array[];
}

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
  /** Length of each row, 0 until it is needed. */
  readonly #norms: Float64Array[] = [];
  #quantized: QuantizedRows | undefined;
  /** How many rows queries wanted to compare while there was nothing to compare them fast with. */
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
   * Makes room behind all rows, for vectors that are read from a file. {@link add} makes them rows where they are; {@link set} with their
   * numbers, in ascending order, makes each a row at its place or before it.
   *
   * @param after - rows that were reserved and are not stored yet
   */
  reserve(count: number, after?: ReservedRows): ReservedRows {
    const first = after ? after.first + after.count : this.#count;
    const end = first + count;
    this.#makeRoom(end);
    const parts: Uint8Array[] = [];
    for (let row = first; row < end;) {
      const endOfPart = Math.min(row - (row % rowsPerSegment) + rowsPerSegment, end);
      parts.push(this.#bytesOf(row, endOfPart - row));
      row = endOfPart;
    }
    return { first, count, parts };
  }

  #makeRoom(rows: number): void {
    while (this.#segments.length * rowsPerSegment < rows) {
      const numbers = new Float32Array(rowsPerSegment * this.dimension);
      this.#segments.push(numbers);
      this.#bytes.push(bytesOf(numbers));
      this.#norms.push(new Float64Array(rowsPerSegment));
    }
  }

  /** Stores a vector in a row, or in the next one after the last. @param vector - 32-bit floats, their bytes, or the number of a reserved row */
  set(row: number, vector: Float32Array | Uint8Array | number): void {
    if (row === this.#count) {
      this.#makeRoom(row + 1);
      this.#count += 1;
    }
    if (vector !== row) {
      const bytes = typeof vector === 'number' ? this.#bytesOf(vector, 1) : vector;
      this.#bytesOf(row, 1).set(bytes instanceof Uint8Array ? bytes : bytesOf(bytes));
    }
    this.#changed(row);
  }

  /** Makes reserved rows rows of the table. They must be the next ones. */
  add({ first, count }: ReservedRows): void {
    this.#count = first + count;
    for (let row = first; row < this.#count; row += 1) this.#changed(row);
  }

  #changed(row: number): void {
    (this.#norms[Math.floor(row / rowsPerSegment)] as Float64Array)[row % rowsPerSegment] = 0;
    if (this.#quantized?.reserve(this.#count) === false) this.#quantized = undefined;
    this.#quantized?.set(row, this.row(row));
  }

  /** The bytes of rows of one segment. */
  #bytesOf(row: number, count: number): Uint8Array {
    const size = this.dimension * Float32Array.BYTES_PER_ELEMENT;
    const start = (row % rowsPerSegment) * size;
    return (this.#bytes[Math.floor(row / rowsPerSegment)] as Uint8Array).subarray(start, start + count * size);
  }

  /** A view, not a copy. @param count - rows of one segment; default one */
  row(row: number, count = 1): Float32Array {
    const segment = this.#segments[Math.floor(row / rowsPerSegment)];
    if (!segment || row + count > this.#count) throw new RangeError(`There is no row ${row}.`);
    const start = (row % rowsPerSegment) * this.dimension;
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

  /** The rows as they are, for the first query that compares all of them: it need not wait for {@link quantized}. Later `undefined`. */
  forFirstQuery(): FloatRows | undefined {
    if (this.#quantized || this.#compared > 0 || this.#count < minQuantized) return undefined;
    this.#compared = this.#count;
    const rowsAt = (first: number, count: number): Float32Array => this.row(first, count);
    return FloatRows.create(this.dimension, { isUnit: this.metric === 'cosine', rowsAt });
  }

  /**
   * The rows as small integers; for `cosine` the rows have length 1. They are made by the call from which on they pay: after as many
   * rows were to be compared as there are. `undefined` before, and for few rows.
   */
  quantized(toCompare: number = this.#count): QuantizedRows | undefined {
    if (this.#quantized || this.#count < minQuantized) return this.#quantized;
    this.#compared += toCompare;
    if (this.#compared < this.#count) return undefined;
    const quantized = QuantizedRows.create(this.dimension, { isUnit: this.metric === 'cosine' });
    if (!quantized?.reserve(this.#count)) return undefined;
    for (let row = 0; row < this.#count; row += 1) quantized.set(row, this.row(row));
    this.#quantized = quantized;
    return quantized;
  }
}

/** So few rows are compared exactly at once. */
const fewRows = 64;

export interface NearestRowsOptions {
  table: VectorTable;
  query: Float32Array;
  k: number;
  /** The rows that may be found, in ascending order; default all. */
  rows?: Int32Array | undefined;
  /** Decides between rows of equal similarity. */
  idOf: (row: number) => string;
}

/**
 * Returns the `k` rows most similar to a query, best first, exactly.
 *
 * Many rows are first compared as small integers, or in 32-bit arithmetic. A row is skipped only if its upper bound is less than the lower bounds of `k` other
 * rows; all others are compared exactly.
 */
export function nearestRows({ table, query, k, rows, idOf }: NearestRowsOptions): Candidate[] {
  const queryNorm = Math.sqrt(dot(query, 0, query, table.dimension));
  const count = rows ? rows.length : table.count;
  // With a query of zeros every row is equally similar, and no row can be skipped.
  const isDirect = queryNorm === 0 || (rows && count <= Math.max(fewRows, k));
  const bounded = isDirect ? undefined : ((rows ? undefined : table.forFirstQuery()) ?? table.quantized(count));
  const possible = bounded ? possibleRows({ table, query, k, rows }, bounded, queryNorm) : rows;
  const best = new TopK(k, idOf);
  if (possible) for (const row of possible) best.offer(row, table.similarity(row, query, queryNorm));
  else for (let row = 0; row < count; row += 1) best.offer(row, table.similarity(row, query, queryNorm));
  return best.toSorted();
}

function possibleRows(
  { table, query, k, rows: listed }: Omit<NearestRowsOptions, 'idOf'>,
  bounded: QuantizedRows | FloatRows,
  queryNorm: number,
): number[] {
  // The smallest values that the best rows can have. Their identity does not matter.
  const lowest = new TopK(k, () => '');
  let least = Number.NEGATIVE_INFINITY;
  const rows: number[] = [];
  const highest: number[] = [];
  const isEuclidean = table.metric === 'euclidean';
  const factor = table.metric === 'cosine' ? 1 / queryNorm : isEuclidean ? 2 : 1;
  // The negative squared distance is twice the product less both squares.
  const squaresOf = (row: number): number => (isEuclidean ? table.norm(row) ** 2 + queryNorm ** 2 : 0);
  for (const block of bounded.estimate(query, factor, table.count, listed)) {
    if (rows.length === 0) least = lowestOfBest(block, k, bounded.rounding, squaresOf);
    for (let place = 0; place < block.count; place += 1) {
      const row = block.rows[place] as number;
      const squares = squaresOf(row);
      const rounding = bounded.rounding * squares;
      if ((block.atMost[place] as number) - squares + rounding < least) continue;
      const { estimate, error } = block.estimate(place);
      const atMost = estimate - squares + error + rounding;
      if (atMost < least) continue;
      lowest.offer(row, estimate - squares - error - rounding);
      least = Math.max(least, lowest.worst);
      rows.push(row);
      highest.push(atMost);
    }
  }
  return rows.filter((_row, position) => (highest[position] as number) >= least);
}

/**
 * Returns a value that at least `k` rows of a block reach: the lower bound of those whose upper bounds are largest. Rows in any order
 * would decide little at first: without it, 1,000 rows that a filter selects cost 615 estimates instead of 460.
 */
function lowestOfBest(
  block: BlockEstimate,
  k: number,
  relativeRounding: number,
  squaresOf: (row: number) => number,
): number {
  if (block.count < k) return Number.NEGATIVE_INFINITY;
  const best = new TopK(k, () => '');
  for (let place = 0; place < block.count; place += 1)
    best.offer(place, (block.atMost[place] as number) - squaresOf(block.rows[place] as number));
  const lower = best.toSorted().map(({ row: place }) => {
    const squares = squaresOf(block.rows[place] as number);
    const { estimate, error } = block.estimate(place);
    return estimate - squares - error - relativeRounding * squares;
  });
  return Math.min(...lower);
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
