import { wasmModule, type WasmMemory } from '../../../wasm/wasm-module.js';
import { int8DotsWasm } from './int8-dots.js';

/** The kernel with a memory of its own; addresses are bytes in it. See int8-dots.wat. */
export interface Kernel {
  readonly memory: WasmMemory;
  dots(query: number, row: number, out: number, rows: number, stride: number): void;
}

const start = wasmModule<Pick<Kernel, 'dots'>>(int8DotsWasm);

/**
 * Starts the kernel with a memory of the given size.
 *
 * @param pages - of 64 KiB
 * @returns `undefined` where the engine has no WebAssembly with SIMD, or the host forbids it
 */
export function startKernel(pages: number): Kernel | undefined {
  const instance = start(pages);
  return instance && { memory: instance.memory, dots: instance.exports.dots };
}
