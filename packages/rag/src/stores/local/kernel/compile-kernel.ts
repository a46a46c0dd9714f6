import { int8DotsWasm } from './int8-dots.js';

/** The part of `WebAssembly.Memory` that is used here. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB. @throws RangeError when there is no more room */
  grow(pages: number): number;
}

/** The kernel with a memory of its own; addresses are bytes in it. See int8-dots.wat. */
export interface Kernel {
  readonly memory: KernelMemory;
  dots(query: number, row: number, out: number, rows: number, stride: number): void;
}

/** The part of the global `WebAssembly` that is used here: its types are not part of any library that servers load. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (limits: { initial: number }) => KernelMemory;
  Instance: new (module: object, imports: object) => { exports: { dots: Kernel['dots'] } };
}

let compiled: object | null | undefined;

/**
 * Starts the kernel with a memory of the given size.
 *
 * @param pages - of 64 KiB
 * @returns `undefined` where the engine has no WebAssembly with SIMD, or the host forbids it
 */
export function startKernel(pages: number): Kernel | undefined {
  const { WebAssembly: api } = globalThis as { WebAssembly?: WebAssemblyApi };
  if (!api || compiled === null) return undefined;
  try {
    compiled ??= new api.Module(Uint8Array.from(atob(int8DotsWasm), (character) => character.charCodeAt(0)));
    const memory = new api.Memory({ initial: pages });
    const { exports } = new api.Instance(compiled, { quiver: { memory } });
    return { memory, dots: exports.dots };
  } catch {
    compiled = null;
    return undefined;
  }
}
