import { nibbleDotsWasm } from './kernels.js';
import { boundRow } from './row-bounds.js';
import { pageBytes, wasmModule, type WasmInstance } from './wasm-module.js';

/** Functions of nibble-dots.wat; addresses are bytes in the memory. */
interface NibbleDots {
  dots(query: number, row: number, list: number, out: number, rows: number, stride: number): void;
  quantize(row: number, codes: number, high: number, low: number, stride: number, out: number): void;
}

/** Starts the kernel with a memory of so many pages; `undefined` where it cannot run. */
export const startNibbleDots: (pages: number) => WasmInstance<NibbleDots> | undefined = wasmModule(nibbleDotsWasm);

/** Rows that the kernel compares at once; an even number. */
const blockRows = 1024;
const queryAddress = 0;
/** Below this share of all rows, comparing listed rows takes less time than comparing all: they are not read in order. */
const sparseShare = 1 / 4;

/** Dot product of a query with a row, computed with integers. */
export interface Estimate {
  readonly estimate: number;
  /** Largest possible distance of the exact value from the estimate. */
  readonly error: number;
}

/** Bounds of the dot products of one query with a block of rows. */
export interface BlockEstimate {
  /** How many rows of the block were compared. */
  readonly count: number;
  /** Their numbers; longer than `count`. */
  readonly rows: Int32Array;
  /** Upper bound of the product with each of them, from its high half. */
  readonly atMost: Float64Array;
  /** Estimates one of them from both halves. @param place - its place in `rows` */
  estimate(place: number): Estimate;
}

/**
 * Rows of numbers as 8-bit integers, compared with SIMD instructions. A scan reads the high 4 bits of every row, and the low
 * 4 bits only of rows that the high ones do not decide. Every estimate has an error bound, so a caller that compares bounds
 * finds the exact result. README.md in this folder explains the mathematics.
 */
export class QuantizedRows {
  readonly #layout: MemoryLayout;
  readonly #kernel: WasmInstance<NibbleDots>;
  /**
   * How far sums of products in 64-bit floats may lie from the true ones, as a share of the product of the lengths. Where
   * integers lose nothing, as with vectors of zeros and ones, it is all that two calculations of one number differ by.
   */
  readonly rounding: number;
  /** Largest rounding error of a query, plus `rounding` twice, as a share of its length. */
  readonly #queryError: number;
  /** The row that is being stored; zeros behind its end. */
  #row: Float32Array;
  #sums: Float32Array;
  readonly #isUnit: boolean;
  #scales = new Float64Array(0);
  /** How far a product with each row may lie from the exact one at most, for a query of length 1. */
  #errors = new Float64Array(0);
  /** The same without the low halves of the row. */
  #errorsWithoutLow = new Float64Array(0);

  private constructor(layout: MemoryLayout, kernel: WasmInstance<NibbleDots>, isUnit: boolean) {
    this.#layout = layout;
    this.#kernel = kernel;
    this.#isUnit = isUnit;
    this.#row = this.#floats(layout.rowAddress, 2 * layout.stride);
    this.#sums = this.#floats(layout.sumsAddress, 4);
    this.rounding = (2 * layout.stride + 16) * Number.EPSILON;
    // No number of the query is moved by more than half a step, of which the largest one has `largestQueryCode`.
    this.#queryError = Math.sqrt(2 * layout.stride) / (2 * layout.largestQueryCode) + 2 * this.rounding;
  }

  /**
   * `undefined` where the kernel cannot run, or could not add up so many products in 32 bits.
   *
   * @param options.isUnit - compare rows as if they had length 1, or were zero
   */
  static create(dimension: number, { isUnit }: { isUnit: boolean }): QuantizedRows | undefined {
    const layout = layOut(dimension);
    if (layout.largestQueryCode < minQueryCode) return undefined;
    const kernel = startNibbleDots(Math.ceil(layout.rowsAddress / pageBytes));
    return kernel && new QuantizedRows(layout, kernel, isUnit);
  }

  /** Grows the memory. @returns `false` at the limit: 4 GiB, or less if the system has less memory */
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
    this.#row = this.#floats(this.#layout.rowAddress, 2 * stride);
    this.#sums = this.#floats(this.#layout.sumsAddress, 4);
    const capacity = blocks * blockRows;
    this.#scales = enlarge(this.#scales, capacity);
    this.#errors = enlarge(this.#errors, capacity);
    this.#errorsWithoutLow = enlarge(this.#errorsWithoutLow, capacity);
    return true;
  }

  /** Stores a row for which there is room. */
  set(row: number, vector: Float32Array): void {
    const { stride, rowAddress, codesAddress, sumsAddress } = this.#layout;
    const high = this.#highAddress(row);
    this.#row.set(vector);
    this.#kernel.exports.quantize(rowAddress, codesAddress, high, high + blockRows * stride, stride, sumsAddress);
    const bounds = boundRow(this.#sums, { numbers: 2 * stride, isUnit: this.#isUnit });
    const lostByQuery = this.#queryError * (bounds.length + bounds.lostWithoutLow);
    this.#scales[row] = bounds.scale;
    this.#errors[row] = bounds.lost + lostByQuery;
    this.#errorsWithoutLow[row] = bounds.lostWithoutLow + lostByQuery;
  }

  /**
   * Compares a query with the first `count` rows, or with those of them that are listed in ascending order. A block is valid until the
   * next one.
   */
  *estimate(query: Float32Array, factor: number, count: number, listed?: Int32Array): Generator<BlockEstimate> {
    const { buffer } = this.#kernel.memory;
    const { stride, largestQueryCode, pairAddress, blockAddress, listAddress, lowAddress } = this.#layout;
    const codes = new Int16Array(buffer, queryAddress, 2 * stride);
    const { scale, length, sum } = quantizeQuery(query, factor, largestQueryCode, codes);
    // The halves of the rows are stored 8 larger than they are.
    const tooMuch = 8 * sum;
    const ofBlock = new Int32Array(buffer, blockAddress, blockRows);
    const ofPair = new Int32Array(buffer, pairAddress, 2);
    const list = new Uint32Array(buffer, listAddress, blockRows);
    const rows = new Int32Array(blockRows);
    /** Products of the query with the high half of each row. */
    const products = new Int32Array(blockRows);
    /** With the low halves, where they are compared together. */
    const lowProducts = new Int32Array(buffer, lowAddress, blockRows);
    const atMost = new Float64Array(blockRows);
    const [scales, errors, errorsWithoutLow] = [this.#scales, this.#errors, this.#errorsWithoutLow];
    const { dots } = this.#kernel.exports;
    const isSparse = listed !== undefined && listed.length < count * sparseShare;
    const lowHalf = blockRows * stride;
    const lowProduct = (place: number, row: number): number => {
      if (isSparse) return lowProducts[place] as number;
      dots(queryAddress, this.#highAddress(row & -2) + lowHalf, 0, pairAddress, 2, stride);
      return ofPair[row & 1] as number;
    };
    const estimate = (place: number): Estimate => {
      const row = rows[place] as number;
      const product = 16 * ((products[place] as number) - tooMuch) + lowProduct(place, row) - tooMuch;
      return { estimate: product * scale * (scales[row] as number), error: length * (errors[row] as number) };
    };
    const total = listed ? listed.length : count;
    for (let done = 0, found = 0; done < total; done += found) {
      const first = listed ? (listed[done] as number) : done;
      const firstRow = first - (first % blockRows);
      const end = isSparse ? count : Math.min(firstRow + blockRows, count);
      found = 0;
      if (listed) {
        for (let row = first; row < end && found < blockRows; row = listed[done + found] ?? end) rows[found++] = row;
      } else for (let row = first; row < end; row += 1) rows[found++] = row;
      if (isSparse) {
        // Two calls for both halves of all rows: one for each row takes three times as long.
        for (let place = 0; place < found; place += 1) list[place] = this.#highAddress(rows[place] as number);
        const even = found + (found & 1);
        if (even > found) list[found] = list[found - 1] as number;
        dots(queryAddress, 0, listAddress, blockAddress, even, stride);
        products.set(ofBlock);
        for (let place = 0; place < even; place += 1) (list[place] as number) += lowHalf;
        dots(queryAddress, 0, listAddress, lowAddress, even, stride);
      } else {
        const ofAll = end - firstRow;
        dots(queryAddress, this.#highAddress(firstRow), 0, blockAddress, ofAll + (ofAll & 1), stride);
        for (let place = 0; place < found; place += 1)
          products[place] = ofBlock[(rows[place] as number) - firstRow] as number;
      }
      for (let place = 0; place < found; place += 1) {
        const row = rows[place] as number;
        atMost[place] =
          16 * ((products[place] as number) - tooMuch) * scale * (scales[row] as number) +
          length * (errorsWithoutLow[row] as number);
      }
      yield { count: found, rows, atMost, estimate };
    }
  }

  #floats(address: number, count: number): Float32Array {
    return new Float32Array(this.#kernel.memory.buffer, address, count);
  }

  /** Where the high halves of a row are; its low ones are a block behind. */
  #highAddress(row: number): number {
    const { rowsAddress, stride } = this.#layout;
    return rowsAddress + (row + Math.floor(row / blockRows) * blockRows) * stride;
  }
}

type MemoryLayout = ReturnType<typeof layOut>;

/** With less than that, reached beyond 140,000 dimensions, rounding the query would lose too much. */
const minQueryCode = 1000;

/**
 * Returns the addresses of the query as 16-bit integers, the row that is being stored as floats and as integers, what the kernel returns of
 * it, the results of two rows, those of a block, addresses of rows, results of their low halves, and the rows: of each block all high
 * halves, then all low ones.
 */
function layOut(dimension: number) {
  // The kernel takes 32 numbers at once.
  const steps = Math.ceil(dimension / 32);
  const stride = steps * 16;
  const rowAddress = queryAddress + stride * 4;
  const codesAddress = rowAddress + stride * 8;
  const sumsAddress = codesAddress + stride * 8;
  const pairAddress = sumsAddress + 16;
  const blockAddress = pairAddress + 16;
  const listAddress = blockAddress + blockRows * 4;
  const lowAddress = listAddress + blockRows * 4;
  return {
    /** Bytes of the high halves of a row, or of the low ones. */
    stride,
    rowAddress,
    codesAddress,
    sumsAddress,
    pairAddress,
    blockAddress,
    listAddress,
    lowAddress,
    rowsAddress: lowAddress + blockRows * 4,
    /** Larger integers in a query could make a sum of the kernel larger than 32 bits. */
    largestQueryCode: Math.min(32_767, Math.floor((2 ** 31 - 1) / (480 * steps))),
  };
}

function enlarge(numbers: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length);
  larger.set(numbers);
  return larger;
}

/**
 * Rounds a query to integers up to `largestCode`.
 *
 * @param factor - multiplies every number
 * @returns size of one integer step, length of the query, sum of the integers
 */
function quantizeQuery(
  vector: Float32Array,
  factor: number,
  largestCode: number,
  codes: Int16Array,
): Record<'scale' | 'length' | 'sum', number> {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  const scale = (largest * factor) / largestCode;
  const inverse = scale === 0 ? 0 : factor / scale;
  let length = 0;
  let sum = 0;
  for (let position = 0; position < vector.length; position += 1) {
    const exact = (vector[position] as number) * factor;
    const code = Math.floor((vector[position] as number) * inverse + 0.5);
    length += exact * exact;
    sum += code;
    codes[position] = code;
  }
  return { scale, length: Math.sqrt(length), sum };
}
