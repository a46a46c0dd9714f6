import { floatProductsWasm } from './kernels.js';
import type { BlockEstimate, Estimate } from './quantized-rows.js';
import { pageBytes, wasmModule, type WasmInstance } from './wasm-module.js';

/** Functions of float-products.wat; addresses are bytes in the memory. */
interface FloatProducts {
  products(query: number, row: number, out: number, rows: number, length: number): void;
}

const startFloatProducts = wasmModule<FloatProducts>(floatProductsWasm);

/** Rows that are copied to the kernel at once: with 384 numbers, 98 KB, which stay in the processor's cache. */
const blockRows = 64;
const roundoff = 2 ** -24;
/** Beyond that, at 2 million numbers, the bounds would no longer be narrow. */
const widestError = 0.06;
/** Squares of rows outside of this range could have lost parts to the limits of 32-bit floats. */
const [leastSquares, mostSquares] = [2 ** -80, 2 ** 80];

/**
 * Compares one query with rows of 32-bit floats where they are, in 32-bit arithmetic: less than a third of the time that it takes to
 * make {@link QuantizedRows} of them. Estimates have error bounds as theirs, from the error of a sum of `n` products, in which each is
 * rounded `m ≤ n / 4 + 20` times (Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1):
 *
 * - `|fl(q·v) − q·v| ≤ m · 2⁻²⁴ · |q| · |v|`, in which `m` includes the rounding of the query to 32 bits after it was divided by its length.
 * - The length of a row, as the root of such a sum, is right to a share of half of it.
 *
 * The bound takes twice the first, which covers both, their product, and the rounding of 64-bit floats. A row whose numbers are so large or
 * small that 32 bits could lose them has no bounds.
 */
export class FloatRows {
  /** As in `QuantizedRows`. */
  readonly rounding: number;
  readonly #dimension: number;
  readonly #isUnit: boolean;
  readonly #rowsAt: (first: number, count: number) => Float32Array;
  readonly #kernel: WasmInstance<FloatProducts>;
  /** Largest error of a product, as a share of both lengths. */
  readonly #error: number;

  private constructor(dimension: number, { isUnit, rowsAt }: FloatRowsOptions, kernel: WasmInstance<FloatProducts>) {
    this.rounding = (dimension + 16) * Number.EPSILON;
    this.#dimension = dimension;
    this.#isUnit = isUnit;
    this.#rowsAt = rowsAt;
    this.#kernel = kernel;
    this.#error = errorOf(dimension);
  }

  /** `undefined` where the kernel cannot run, or would add up too many products in 32 bits. */
  static create(dimension: number, options: FloatRowsOptions): FloatRows | undefined {
    if (errorOf(dimension) > widestError) return undefined;
    const bytes = (blockRows + 1) * dimension * 4 + blockRows * 8;
    const kernel = startFloatProducts(Math.ceil(bytes / pageBytes));
    return kernel && new FloatRows(dimension, options, kernel);
  }

  /** As `estimate` of `QuantizedRows`, for the first `count` rows. @param query - not all zeros */
  *estimate(query: Float32Array, factor: number, count: number): Generator<BlockEstimate> {
    const { memory, exports } = this.#kernel;
    const dimension = this.#dimension;
    const rowAddress = dimension * 4;
    const outAddress = rowAddress + blockRows * rowAddress;
    const block = new Float32Array(memory.buffer, rowAddress, blockRows * dimension);
    const results = new Float32Array(memory.buffer, outAddress, 2 * blockRows);
    const queryLength = Math.sqrt(query.reduce((sum, number) => sum + number * number, 0));
    new Float32Array(memory.buffer, 0, dimension).set(query.map((number) => number / queryLength));
    const scale = queryLength * factor;
    const rows = new Int32Array(blockRows);
    const estimates = new Float64Array(blockRows);
    const errors = new Float64Array(blockRows);
    const atMost = new Float64Array(blockRows);
    const estimate = (place: number): Estimate => ({
      estimate: estimates[place] as number,
      error: errors[place] as number,
    });
    for (let first = 0; first < count; first += blockRows) {
      const found = Math.min(blockRows, count - first);
      block.set(this.#rowsAt(first, found));
      exports.products(0, rowAddress, outAddress, found, rowAddress);
      for (let place = 0; place < found; place += 1) {
        const squares = results[2 * place + 1] as number;
        const isBounded = squares >= leastSquares && squares <= mostSquares;
        const length = Math.sqrt(squares);
        rows[place] = first + place;
        estimates[place] = isBounded ? ((results[2 * place] as number) * scale) / (this.#isUnit ? length : 1) : 0;
        errors[place] = isBounded ? this.#error * scale * (this.#isUnit ? 1 : length) : Number.POSITIVE_INFINITY;
        atMost[place] = (estimates[place] as number) + (errors[place] as number);
      }
      yield { count: found, rows, atMost, estimate };
    }
  }
}

export interface FloatRowsOptions {
  /** Compare rows as if they had length 1, or were zero. */
  isUnit: boolean;
  /** Returns rows that follow each other; the first one's number is a multiple of 64, and there are 64 of them at most. */
  rowsAt: (first: number, count: number) => Float32Array;
}

function errorOf(dimension: number): number {
  return 2 * (dimension / 4 + 20) * roundoff;
}
