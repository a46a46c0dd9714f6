import { pageBytes } from '../../../wasm/wasm-module.js';
import { startKernel, type Kernel } from './compile-kernel.js';

/** Rows that the kernel compares at once. */
const blockRows = 4096;

/** Estimates of the dot products of one query with a block of rows. */
export interface BlockEstimate {
  readonly firstRow: number;
  readonly rows: number;
  /** For each row of the block. */
  readonly estimates: Float64Array;
  /** How far the exact value may lie from the estimate at most. */
  readonly errors: Float64Array;
}

/**
 * Rows of numbers as 8-bit integers, a quarter of their size, to be compared with SIMD instructions.
 *
 * Each row has its own scale. For every row the length of what the rounding lost is kept, so each estimate comes with a bound
 * on its error (Cauchy–Schwarz): `|q·v − q̂·v̂| ≤ |q|·|v − v̂| + |q − q̂|·|v̂|`. Whoever compares bounds rather than estimates
 * loses nothing.
 */
export class QuantisedRows {
  readonly #stride: number;
  readonly #kernel: Kernel;
  readonly #outAddress: number;
  readonly #rowsAddress: number;
  /**
   * How far sums of products in 64-bit floats may lie from the true ones, as a share of the product of the lengths. Where 8 bits
   * lose nothing, as with vectors of zeros and ones, it is all that two calculations of one number differ by.
   */
  readonly rounding: number;
  #scales = new Float64Array(0);
  /** Length of the rounding error of each row. */
  #lost = new Float64Array(0);
  /** Length of each row after rounding. */
  #kept = new Float64Array(0);

  private constructor({ stride, outAddress, rowsAddress }: MemoryLayout, kernel: Kernel) {
    this.#stride = stride;
    this.#outAddress = outAddress;
    this.#rowsAddress = rowsAddress;
    this.#kernel = kernel;
    this.rounding = (stride + 16) * Number.EPSILON;
  }

  /** `undefined` where the kernel cannot run. */
  static create(dimension: number): QuantisedRows | undefined {
    const layout = layOut(dimension);
    const kernel = startKernel(Math.ceil(layout.rowsAddress / pageBytes));
    return kernel && new QuantisedRows(layout, kernel);
  }

  /** Makes room. @returns `false` when there is no more: 4 GiB at most, or what the system gives */
  reserve(rows: number): boolean {
    if (rows <= this.#scales.length) return true;
    const capacity = Math.max(rows, Math.ceil(this.#scales.length * 1.5), blockRows);
    const missing = this.#rowsAddress + capacity * this.#stride - this.#kernel.memory.buffer.byteLength;
    try {
      if (missing > 0) this.#kernel.memory.grow(Math.ceil(missing / pageBytes));
    } catch {
      return false;
    }
    this.#scales = enlarge(this.#scales, capacity);
    this.#lost = enlarge(this.#lost, capacity);
    this.#kept = enlarge(this.#kept, capacity);
    return true;
  }

  /** Stores a row for which there is room. @param factor - multiplies every number of it */
  set(row: number, vector: Float32Array, factor: number): void {
    const codes = new Int8Array(this.#kernel.memory.buffer, this.#rowsAddress + row * this.#stride, this.#stride);
    const { scale, lost, kept } = quantise(vector, factor, codes);
    this.#scales[row] = scale;
    this.#lost[row] = lost;
    this.#kept[row] = kept;
  }

  /** Compares a query with the first `count` rows. What it yields is valid until the next block. */
  *estimate(query: Float32Array, factor: number, count: number): Generator<BlockEstimate> {
    const codes = new Int8Array(this.#stride);
    const { scale, lost, length } = quantise(query, factor, codes);
    new Int16Array(this.#kernel.memory.buffer, 0, this.#stride).set(codes);
    const rounded = 2 * this.rounding * length;
    const products = new Int32Array(this.#kernel.memory.buffer, this.#outAddress, blockRows);
    const estimates = new Float64Array(blockRows);
    const errors = new Float64Array(blockRows);
    for (let firstRow = 0; firstRow < count; firstRow += blockRows) {
      const rows = Math.min(blockRows, count - firstRow);
      this.#kernel.dots(0, this.#rowsAddress + firstRow * this.#stride, this.#outAddress, rows, this.#stride);
      const [scales, lostOf, keptOf] = [this.#scales, this.#lost, this.#kept];
      for (let offset = 0; offset < rows; offset += 1) {
        const row = firstRow + offset;
        estimates[offset] = (products[offset] as number) * scale * (scales[row] as number);
        errors[offset] = length * (lostOf[row] as number) + (lost + rounded) * (keptOf[row] as number);
      }
      yield { firstRow, rows, estimates, errors };
    }
  }
}

/** The query as 16-bit integers at address 0, then the results of a block, then the rows. */
interface MemoryLayout {
  /** Bytes of a row: the dimension, filled up with zeros to a multiple of 16. */
  readonly stride: number;
  readonly outAddress: number;
  readonly rowsAddress: number;
}

function layOut(dimension: number): MemoryLayout {
  const stride = Math.ceil(dimension / 16) * 16;
  const outAddress = stride * 2;
  return { stride, outAddress, rowsAddress: outAddress + blockRows * 4 };
}

interface Quantised {
  /** What one step of the integers stands for. */
  scale: number;
  /** Lengths: of the rounding error, of the rounded vector, of the vector itself. */
  lost: number;
  kept: number;
  length: number;
}

function quantise(vector: Float32Array, factor: number, codes: Int8Array): Quantised {
  let largest = 0;
  for (let position = 0; position < vector.length; position += 1) {
    const size = Math.abs(vector[position] as number);
    if (size > largest) largest = size;
  }
  const scale = (largest * factor) / 127;
  const inverse = scale === 0 ? 0 : factor / scale;
  let lost = 0;
  let kept = 0;
  let length = 0;
  for (let position = 0; position < vector.length; position += 1) {
    // Rounded to the nearest; in [-127, 127], because the largest number decides the scale.
    const code = Math.floor((vector[position] as number) * inverse + 0.5);
    codes[position] = code;
    const exact = (vector[position] as number) * factor;
    const rounded = code * scale;
    lost += (exact - rounded) ** 2;
    kept += rounded * rounded;
    length += exact * exact;
  }
  return { scale, lost: Math.sqrt(lost), kept: Math.sqrt(kept), length: Math.sqrt(length) };
}

function enlarge(numbers: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length);
  larger.set(numbers);
  return larger;
}
