import type { Functions as PdfiumFunctions } from '@embedpdf/pdfium';
import { encryptedDocument } from '../zip.js';

const encoder = new TextEncoder();

/** PDFium's C API, as the WebAssembly module exports it. */
type Functions = Record<keyof PdfiumFunctions | 'malloc' | 'free', (...values: number[]) => number>;

/** The WebAssembly module, with room for the results of a call. */
export class Pdfium {
  readonly call: Functions;
  /** Address of 64 bytes for results. */
  readonly out: number;
  readonly #memory: { readonly buffer: ArrayBuffer };
  #floats = new Float32Array();

  constructor(exports: Functions & { memory: { readonly buffer: ArrayBuffer } }) {
    this.call = exports;
    this.#memory = exports.memory;
    this.out = exports.malloc(64);
  }

  /** The results of the last call as numbers; the memory moves when it grows. */
  get floats(): Float32Array {
    if (this.#floats.buffer !== this.#memory.buffer) this.#floats = new Float32Array(this.#memory.buffer, this.out, 8);
    return this.#floats;
  }

  get doubles(): Float64Array {
    return new Float64Array(this.#memory.buffer, this.out, 2);
  }

  get address(): number {
    return new Uint32Array(this.#memory.buffer, this.out, 1)[0]!;
  }

  bytes(from: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, from, length);
  }

  /** Calls a function with the address of a copy of the bytes. */
  with<Result>(bytes: Uint8Array, run: (address: number) => Result): Result {
    const address = this.call.malloc(bytes.length);
    if (address === 0) throw new RangeError('The memory of PDFium is exhausted.');
    this.bytes(address, bytes.length).set(bytes);
    try {
      return run(address);
    } finally {
      this.call.free(address);
    }
  }

  /** Calls a function with the address of a text that ends with 0. */
  withText<Result>(text: string, run: (address: number) => Result): Result {
    return this.with(encoder.encode(`${text}\0`), run);
  }

  /** Reads a text from a function that writes at most a number of bytes and returns how many there are. */
  text(read: (buffer: number, size: number) => number, encoding: 'utf-8' | 'utf-16le' = 'utf-16le'): string {
    const size = Math.min(read(0, 0), 100_000);
    return this.with(new Uint8Array(size), (buffer) => {
      read(buffer, size);
      return new TextDecoder(encoding).decode(this.bytes(buffer, size)).split('\0', 1)[0]!;
    });
  }
}

let loaded: Promise<Pdfium> | undefined;

/** Starts PDFium with the first file of a thread. After an error of the module, which may have damaged its memory, it is started again. */
async function startPdfium(): Promise<Pdfium> {
  const { init } = await import('@embedpdf/pdfium');
  const { PDFiumExt_Init: initialize, pdfium } = await init({ print: () => undefined, printErr: () => undefined });
  initialize();
  // The wrappers of the package take four times as long as the functions.
  return new Pdfium(pdfium.wasmExports as unknown as ConstructorParameters<typeof Pdfium>[0]);
}

const passwordError = 4;

/**
 * Opens a document and calls a function with it.
 *
 * @throws `DOCUMENT_ENCRYPTED`
 */
export async function openPdf<Result>(
  bytes: Uint8Array,
  { name, password = '' }: { name: string; password: string | undefined },
  read: (pdfium: Pdfium, document: number) => Result,
): Promise<Result> {
  loaded ??= startPdfium();
  try {
    const pdfium = await loaded;
    return pdfium.with(bytes, (file) => {
      const document = pdfium.withText(password, (secret) =>
        pdfium.call.FPDF_LoadMemDocument(file, bytes.length, secret),
      );
      if (document === 0) {
        const code = pdfium.call.FPDF_GetLastError();
        if (code === passwordError)
          throw encryptedDocument(name, password === '' ? 'Pass its `password`' : 'The `password` is wrong');
        throw new Error(`PDFium reports the error ${code}: the file is damaged, or is not a PDF file`);
      }
      try {
        return read(pdfium, document);
      } finally {
        pdfium.call.FPDF_CloseDocument(document);
      }
    });
  } catch (error) {
    if ((error as Error).name === 'RuntimeError') loaded = undefined;
    throw error;
  }
}
