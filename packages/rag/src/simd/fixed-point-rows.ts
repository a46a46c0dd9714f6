import { fixedPointProductsWasm } from './kernels.js';
import { pageBytes, wasmModule, type WasmInstance } from './wasm-module.js';

/** Integer for the number 1. Its square, the product of two equal rows, fits into 31 bits with room for rounding. */
const one = 32_000;
/** Rows of a block, a multiple of 4: two blocks of 1,536 numbers fit into the second cache of a processor. */
export const blockRows = 128;

interface Products {
  products(a: number, b: number, out: number, aRows: number, bRows: number, stride: number): void;
}

const start = wasmModule<Products>(fixedPointProductsWasm);

/**
 * Rows with length 1 as 16-bit integers, compared block by block with SIMD instructions. Sums of integers do not depend on the
 * order of their parts: with and without SIMD the products are the same.
 */
export class FixedPointRows {
  readonly #dimension: number;
  /** Numbers of a row: the dimension, filled up with zeros to a multiple of 8. */
  readonly #width: number;
  readonly #wasm: WasmInstance<Products> | undefined;
  readonly #numbers: Int16Array;
  readonly #out: Int32Array;

  /** @param vectors - of any length: their directions are compared. A row of zeros stays one */
  constructor(vectors: readonly Float32Array[], dimension: number) {
    this.#dimension = dimension;
    this.#width = Math.ceil(dimension / 8) * 8;
    // The last block is read as a whole.
    const length = (vectors.length + blockRows) * this.#width;
    const outLength = blockRows * blockRows;
    this.#wasm = start(Math.ceil((length * 2 + outLength * 4) / pageBytes));
    const buffer = this.#wasm?.memory.buffer ?? new ArrayBuffer(length * 2 + outLength * 4);
    this.#out = new Int32Array(buffer, 0, outLength);
    this.#numbers = new Int16Array(buffer, outLength * 4, length);
    for (const [row, vector] of vectors.entries()) {
      const numbers = this.#numbers.subarray(row * this.#width);
      const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
      const factor = length === 0 ? 0 : one / length;
      // The next number takes the rounding error: equal numbers, as in binary embeddings, would all lose the same part of the length.
      for (let place = 0, rest = 0; place < dimension; place += 1) {
        const value = vector[place] as number;
        const size = Math.abs(value) * factor + rest;
        const rounded = Math.floor(size + 0.5);
        rest = size - rounded;
        numbers[place] = Math.sign(value) * rounded;
      }
    }
  }

  /**
   * Multiplies each row of one block with each row of another.
   *
   * @param a - its first row
   * @param b - its first row
   * @returns products of the first row of `a` with all rows of `b`, then of the second, and so on, {@link pitch} numbers apart;
   *   valid until the next call
   */
  multiply(a: number, aRows: number, b: number, bRows: number): Int32Array {
    const aStart = a * this.#width;
    const bStart = b * this.#width;
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
}

/** Returns the product of two rows of this similarity. */
export function productOf(similarity: number): number {
  return Math.floor(similarity * one * one);
}

/** Returns the cosine similarity of two rows with this product, to four digits: rounding of the rows changes further ones. */
export function similarityOf(product: number): number {
  return Math.min(1, Math.round((product / (one * one)) * 1e4) / 1e4);
}

/** Two rows are multiplied at once. */
export function pitch(bRows: number): number {
  return bRows + (bRows & 1);
}
