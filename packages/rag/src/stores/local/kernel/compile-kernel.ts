import { wasmModule, type WasmMemory } from '../../../wasm/wasm-module.js';
import { nibbleDotsWasm } from './nibble-dots.js';

/** The kernel with a memory of its own; addresses are bytes in it. See nibble-dots.wat. */
export interface Kernel {
  readonly memory: WasmMemory;
  dots(query: number, row: number, out: number, rows: number, stride: number): void;
  quantise(row: number, codes: number, high: number, low: number, stride: number, out: number): void;
}

const start = wasmModule<Omit<Kernel, 'memory'>>(nibbleDotsWasm);

/**
 * Starts the kernel with a memory of the given size.
 *
 * @param pages - of 64 KiB
 * @returns `undefined` where the engine has no WebAssembly with SIMD, or the host forbids it
 */
export function startKernel(pages: number): Kernel | undefined {
  const instance = start(pages);
  return instance && { memory: instance.memory, ...instance.exports };
}
