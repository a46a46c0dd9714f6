import type { Functions } from '@embedpdf/pdfium';
import { encryptedDocument } from '../zip.js';

/** PDFium's C API, as the WebAssembly module exports it: the wrappers of the package take four times as long. */
type Calls = Record<keyof Functions | 'malloc' | 'free', (...values: number[]) => number> & {
  readonly memory: { readonly buffer: ArrayBuffer };
};

/** The WebAssembly module, with room for the results of a call. */
export class Pdfium {
  readonly call: Calls;
  /** Address of 32 bytes for results. */
  readonly out: number;
  #results = new Float32Array();

  constructor(call: Calls) {
    this.call = call;
    this.out = call.malloc(32);
  }

  /** Results of the last call. When the memory grows, it moves, and the array becomes empty. */
  get results(): [number, number, number, number, number, number] {
    if (this.#results.length === 0) this.#results = new Float32Array(this.call.memory.buffer, this.out, 6);
    return this.#results as unknown as [number, number, number, number, number, number];
  }

  bytes(from: number, length: number): Uint8Array {
    return new Uint8Array(this.call.memory.buffer, from, length);
  }

  /** Calls a function with the address of a copy of bytes, or of a text that ends with 0. */
  with<Result>(data: Uint8Array | string, run: (address: number) => Result): Result {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(`${data}\0`) : data;
    const address = this.call.malloc(bytes.length);
    if (address === 0) throw new RangeError('The memory of PDFium is exhausted.');
    this.bytes(address, bytes.length).set(bytes);
    try {
      return run(address);
    } finally {
      this.call.free(address);
    }
  }

  /** Reads a text from a function that writes at most a number of bytes and returns how many there are. */
  text(read: (buffer: number, size: number) => number, encoding = 'utf-16le'): string {
    const size = Math.min(read(0, 0), 100_000);
    return this.with(new Uint8Array(size), (buffer) => {
      read(buffer, size);
      return new TextDecoder(encoding).decode(this.bytes(buffer, size)).split('\0', 1)[0]!;
    });
  }
}

/** PDFium, which starts with the first file of a thread and again after an error that may have damaged its memory. */
let loaded: Promise<Pdfium> | undefined;

async function startPdfium(): Promise<Pdfium> {
  const { init } = await import('@embedpdf/pdfium');
  const { PDFiumExt_Init: initialize, pdfium } = await init({ print: () => undefined, printErr: () => undefined });
  initialize();
  return new Pdfium(pdfium.wasmExports as unknown as Calls);
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
    const { call } = pdfium;
    return pdfium.with(bytes, (file) => {
      const document = pdfium.with(password, (secret) => call.FPDF_LoadMemDocument(file, bytes.length, secret));
      const code = call.FPDF_GetLastError();
      if (document === 0 && code === passwordError)
        throw encryptedDocument(name, password === '' ? 'Pass its `password`' : 'The `password` is wrong');
      if (document === 0)
        throw new Error(`PDFium reports the error ${code}: the file is damaged, or is not a PDF file`);
      try {
        return read(pdfium, document);
      } finally {
        call.FPDF_CloseDocument(document);
      }
    });
  } catch (error) {
    if ((error as Error).name === 'RuntimeError') loaded = undefined;
    throw error;
  }
}
