/** The part of `WebAssembly.Memory` that is used here. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB. @throws RangeError when there is no more room */
  grow(pages: number): number;
}

/** A running module with its memory. */
export interface WasmInstance<Exports> {
  readonly memory: WasmMemory;
  readonly exports: Exports;
}

/** The part of the global `WebAssembly` that is used here: its types are not part of any library that servers load. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Memory: new (limits: { initial: number }) => WasmMemory;
  Instance: new (module: object, imports: object) => { exports: unknown };
}

/** Bytes of a page of memory. */
export const pageBytes = 65_536;

/**
 * Makes a function that starts a module, compiled at its first call, with a new memory of the given number of pages (64 KiB
 * each). The function returns `undefined` where the engine has no WebAssembly with SIMD, or the host forbids it.
 *
 * @param base64 - a module that imports its memory as `quiver.memory`
 */
export function wasmModule<Exports>(base64: string): (pages: number) => WasmInstance<Exports> | undefined {
  let compiled: object | undefined;
  return (pages) => {
    const { WebAssembly: api } = globalThis as { WebAssembly?: WebAssemblyApi };
    if (!api) return undefined;
    try {
      compiled ??= new api.Module(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
      const memory = new api.Memory({ initial: pages });
      const { exports } = new api.Instance(compiled, { quiver: { memory } });
      return { memory, exports: exports as Exports };
    } catch {
      return undefined;
    }
  };
}
