import { fixedPointProductsWasm } from './kernels.js';
import { pageBytes, wasmModule, type WasmInstance } from './wasm-module.js';

/** Integer for the number 1. Its square, the product of two equal rows, fits into 31 bits with room for rounding. */
const one = 32_000;
/** Rows of a block, a multiple of 4: two blocks of 1,536 numbers fit into the second cache of a processor. */
export const blockRows = 128;
/** A block of gathered rows is stored before the rows. */
const gatheredRows = blockRows;

interface Products {
  products(a: number, b: number, out: number, aRows: number, bRows: number, stride: number): void;
}

const start = wasmModule<Products>(fixedPointProductsWasm);

/**
 * Rows of length 1 as 16-bit integers, compared block by block with SIMD instructions. Sums of integers do not depend on the
 * order of their parts: with and without SIMD the products are the same.
 */
export class FixedPointRows {
  readonly #dimension: number;
  /** Numbers of a row: the dimension, filled up with zeros to a multiple of 8. */
  readonly #width: number;
  readonly #wasm: WasmInstance<Products> | undefined;
  readonly #numbers: Int16Array;
  readonly #out: Int32Array;
  /** Largest length of a rounding error. */
  #lost = 0;

  constructor(rows: number, dimension: number) {
    this.#dimension = dimension;
    this.#width = Math.ceil(dimension / 8) * 8;
    // The last block is read as a whole.
    const length = (gatheredRows + rows + blockRows) * this.#width;
    const outLength = blockRows * blockRows;
    this.#wasm = start(Math.ceil((length * 2 + outLength * 4) / pageBytes));
    const buffer = this.#wasm?.memory.buffer ?? new ArrayBuffer(length * 2 + outLength * 4);
    this.#out = new Int32Array(buffer, 0, outLength);
    this.#numbers = new Int16Array(buffer, outLength * 4, length);
  }

  /** @param factor - gives the vector length 1 */
  write(row: number, vector: Float32Array, factor: number): void {
    const to = this.#place(row);
    let lost = 0;
    for (let place = 0; place < this.#dimension; place += 1) {
      const exact = (vector[place] as number) * factor * one;
      const rounded = Math.floor(exact + 0.5);
      this.#numbers[to + place] = rounded;
      lost += (exact - rounded) ** 2;
    }
    this.#lost = Math.max(this.#lost, Math.sqrt(lost) / one);
  }

  /**
   * No product is further from the exact one than this, by Cauchy–Schwarz: `|a·b − â·b̂| ≤ |a − â|·|b| + |b − b̂|·|â|`. The
   * rounding of the exact one to 32 bits is included.
   */
  get error(): number {
    return this.#lost * (2 + this.#lost) + 1e-6;
  }

  /** The smallest product that two rows of this similarity can have. */
  smallestProduct(similarity: number): number {
    return Math.floor((similarity - this.error) * one * one);
  }

  /** The largest similarity that two rows of this product can have. */
  largestSimilarity(product: number): number {
    return product / (one * one) + this.error;
  }

  /** Copies rows, a block at most, to be multiplied as `gathered`. */
  gather(rows: Uint32Array): void {
    const width = this.#width;
    for (let place = 0; place < rows.length; place += 1) {
      const from = this.#place(rows[place] as number);
      this.#numbers.copyWithin(place * width, from, from + width);
    }
  }

  /**
   * Multiplies each row of one block with each row of another.
   *
   * @param a - its first row, or `gathered` for the rows gathered before
   * @param b - its first row
   * @returns products of the first row of `a` with all rows of `b`, then of the second, and so on, {@link pitch} numbers apart;
   *   valid until the next call
   */
  multiply(a: number | 'gathered', aRows: number, b: number, bRows: number): Int32Array {
    const aStart = a === 'gathered' ? 0 : this.#place(a);
    const bStart = this.#place(b);
    if (this.#wasm) {
      const base = this.#numbers.byteOffset;
      const aFilled = Math.ceil(aRows / 4) * 4;
      this.#wasm.exports.products(base + aStart * 2, base + bStart * 2, 0, aFilled, pitch(bRows), this.#width * 2);
    } else {
      for (let row = 0; row < aRows; row += 1) {
        for (let other = 0; other < bRows; other += 1) {
          this.#out[row * pitch(bRows) + other] = this.#product(
            aStart + row * this.#width,
            bStart + other * this.#width,
          );
        }
      }
    }
    return this.#out;
  }

  #product(a: number, b: number): number {
    let sum = 0;
    for (let place = 0; place < this.#dimension; place += 1) {
      sum += (this.#numbers[a + place] as number) * (this.#numbers[b + place] as number);
    }
    return sum;
  }

  #place(row: number): number {
    return (gatheredRows + row) * this.#width;
  }
}

/** Two rows are multiplied at once. */
export function pitch(bRows: number): number {
  return bRows + (bRows & 1);
}
