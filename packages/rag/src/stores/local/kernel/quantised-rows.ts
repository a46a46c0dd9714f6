import { pageBytes } from '../../../wasm/wasm-module.js';
import { startKernel, type Kernel } from './compile-kernel.js';
import { codeOfZero, quantiseQuery, quantiseRow } from './quantise.js';

/** Rows that the kernel compares at once; an even number. */
const blockRows = 1024;
/** Where the query is while it is compared. */
const queryAddress = 0;

/** Estimates of the dot products of one query with a block of rows. */
export interface BlockEstimate {
  readonly firstRow: number;
  readonly rows: number;
  /** For each row of the block. */
  readonly estimates: Float64Array;
  /** How far the exact value may lie from the estimate at most. */
  readonly errors: Float64Array;
  /** Replaces the estimate of one row by a better one, which also looks at the low halves. */
  refine(offset: number): void;
}

/**
 * Rows of numbers as 8-bit integers, a quarter of their size, to be compared with SIMD instructions. What takes time is reading
 * them, so their high halves lie together: a comparison reads those of all rows, and the low halves of the few rows that the high
 * ones do not decide.
 *
 * Each row has its own scale. For every row the length of what the rounding lost is kept, so each estimate comes with a bound
 * on its error (Cauchy–Schwarz): `|q·v − q̂·v̂| ≤ |q|·|v − v̂| + |q − q̂|·|v̂|`. Whoever compares bounds rather than estimates
 * loses nothing.
 */
export class QuantisedRows {
  readonly #layout: MemoryLayout;
  readonly #kernel: Kernel;
  /**
   * How far sums of products in 64-bit floats may lie from the true ones, as a share of the product of the lengths. Where
   * integers lose nothing, as with vectors of zeros and ones, it is all that two calculations of one number differ by.
   */
  readonly rounding: number;
  /** The integers of the row that is being stored. */
  #codes: Uint8Array;
  #scales = new Float64Array(0);
  /** Length of the rounding error of each row, with and without its low halves. */
  #lost = new Float64Array(0);
  #lostWithoutLow = new Float64Array(0);
  /** At least the length of each row, before and after rounding. */
  #sizes = new Float64Array(0);

  private constructor(layout: MemoryLayout, kernel: Kernel) {
    this.#layout = layout;
    this.#kernel = kernel;
    this.#codes = this.#viewOfCodes();
    this.#codes.fill(codeOfZero);
    this.rounding = (2 * layout.stride + 16) * Number.EPSILON;
  }

  /** `undefined` where the kernel cannot run, or could not add up so many products in 32 bits. */
  static create(dimension: number): QuantisedRows | undefined {
    const layout = layOut(dimension);
    if (layout.largestQueryCode < minQueryCode) return undefined;
    const kernel = startKernel(Math.ceil(layout.rowsAddress / pageBytes));
    return kernel && new QuantisedRows(layout, kernel);
  }

  /** Makes room. @returns `false` when there is no more: 4 GiB at most, or what the system gives */
  reserve(rows: number): boolean {
    if (rows <= this.#scales.length) return true;
    const { stride, rowsAddress } = this.#layout;
    const blocks = Math.ceil(Math.max(rows, this.#scales.length * 1.5) / blockRows);
    const missing = rowsAddress + blocks * blockRows * 2 * stride - this.#kernel.memory.buffer.byteLength;
    try {
      if (missing > 0) this.#kernel.memory.grow(Math.ceil(missing / pageBytes));
    } catch {
      return false;
    }
    // Memory that grows moves, and leaves its old views empty.
    this.#codes = this.#viewOfCodes();
    const capacity = blocks * blockRows;
    this.#scales = enlarge(this.#scales, capacity);
    this.#lost = enlarge(this.#lost, capacity);
    this.#lostWithoutLow = enlarge(this.#lostWithoutLow, capacity);
    this.#sizes = enlarge(this.#sizes, capacity);
    return true;
  }

  /** Stores a row for which there is room. @param factor - multiplies every number of it */
  set(row: number, vector: Float32Array, factor: number): void {
    const { stride, codesAddress } = this.#layout;
    const { scale, length, lost } = quantiseRow(vector, factor, this.#codes);
    const high = this.#highAddress(row);
    const squares = this.#kernel.split(codesAddress, high, high + blockRows * stride, stride);
    const lostWithoutLow = lost + scale * Math.sqrt(squares);
    this.#scales[row] = scale;
    this.#lost[row] = lost;
    this.#lostWithoutLow[row] = lostWithoutLow;
    this.#sizes[row] = length + lostWithoutLow;
  }

  /** Compares a query with the first `count` rows. What it yields is valid until the next block. */
  *estimate(query: Float32Array, factor: number, count: number): Generator<BlockEstimate> {
    const { buffer } = this.#kernel.memory;
    const { stride, largestQueryCode, pairAddress, blockAddress } = this.#layout;
    const codes = new Int16Array(buffer, queryAddress, 2 * stride);
    const { scale, length, lost, sum } = quantiseQuery(query, factor, largestQueryCode, codes);
    const perSize = lost + 2 * this.rounding * length;
    // The halves of the rows are stored 8 larger than they are.
    const tooMuch = 8 * sum;
    const products = new Int32Array(buffer, blockAddress, blockRows);
    const ofPair = new Int32Array(buffer, pairAddress, 2);
    const estimates = new Float64Array(blockRows);
    const errors = new Float64Array(blockRows);
    const [scales, lostOf, lostWithoutLow, sizes] = [this.#scales, this.#lost, this.#lostWithoutLow, this.#sizes];
    for (let firstRow = 0; firstRow < count; firstRow += blockRows) {
      const rows = Math.min(blockRows, count - firstRow);
      const high = this.#highAddress(firstRow);
      const low = high + blockRows * stride;
      this.#kernel.dots(queryAddress, high, blockAddress, rows + (rows & 1), stride);
      for (let offset = 0; offset < rows; offset += 1) {
        const row = firstRow + offset;
        estimates[offset] = 16 * ((products[offset] as number) - tooMuch) * scale * (scales[row] as number);
        errors[offset] = length * (lostWithoutLow[row] as number) + perSize * (sizes[row] as number);
      }
      const refine = (offset: number): void => {
        this.#kernel.dots(queryAddress, low + (offset & -2) * stride, pairAddress, 2, stride);
        const row = firstRow + offset;
        const product = 16 * ((products[offset] as number) - tooMuch) + (ofPair[offset & 1] as number) - tooMuch;
        estimates[offset] = product * scale * (scales[row] as number);
        errors[offset] = length * (lostOf[row] as number) + perSize * (sizes[row] as number);
      };
      yield { firstRow, rows, estimates, errors, refine };
    }
  }

  #viewOfCodes(): Uint8Array {
    const { codesAddress, stride } = this.#layout;
    return new Uint8Array(this.#kernel.memory.buffer, codesAddress, 2 * stride);
  }

  /** Where the high halves of a row are; its low ones are a block behind. */
  #highAddress(row: number): number {
    const { rowsAddress, stride } = this.#layout;
    return rowsAddress + (row + Math.floor(row / blockRows) * blockRows) * stride;
  }
}

/**
 * The query as 16-bit integers, the row that is being stored as 8-bit ones, the results of two rows, those of a block, and the
 * rows: of each block all high halves, then all low ones.
 */
interface MemoryLayout {
  /** Bytes of the high halves of a row, or of the low ones. */
  readonly stride: number;
  readonly codesAddress: number;
  readonly pairAddress: number;
  readonly blockAddress: number;
  readonly rowsAddress: number;
  /** Larger integers in a query could make a sum of the kernel larger than 32 bits. */
  readonly largestQueryCode: number;
}

/** With less than that, rounding the query would lose more than rounding the rows. */
const minQueryCode = 127;

function layOut(dimension: number): MemoryLayout {
  // The kernel takes 32 numbers at once.
  const steps = Math.ceil(dimension / 32);
  const stride = steps * 16;
  const codesAddress = queryAddress + stride * 4;
  const pairAddress = codesAddress + stride * 2;
  const blockAddress = pairAddress + 16;
  return {
    stride,
    codesAddress,
    pairAddress,
    blockAddress,
    rowsAddress: blockAddress + blockRows * 4,
    largestQueryCode: Math.min(32_767, Math.floor((2 ** 31 - 1) / (7680 * steps))),
  };
}

function enlarge(numbers: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length);
  larger.set(numbers);
  return larger;
}
