import { QuiverError } from '@quiver/core';
import { tooLargeDocument, unreadableDocument, type LoaderOptions } from './document-loader.js';

/** Unpacked files by their paths in the archive. */
export type UnpackedFiles = ReadonlyMap<string, Uint8Array>;

interface Entry {
  readonly path: string;
  /** 0: stored; 8: deflated. */
  readonly method: number;
  readonly size: number;
  readonly data: Uint8Array;
}

/** Number of compressed bytes that are inflated at once. One byte inflates to at most about 1,000. */
const stepSize = 16_384;
/** Number of inflated bytes after which timers and signals run. */
const pauseSize = 8_000_000;

/**
 * Unpacks files of a ZIP archive. The sizes in the directory are checked first; because they can lie, bytes are counted again while
 * they are inflated.
 *
 * @param isWanted - whether a file of the archive is unpacked
 * @throws `DOCUMENT_UNREADABLE`; `DOCUMENT_ENCRYPTED`; `DOCUMENT_TOO_LARGE`
 * @see [APPNOTE, section 4.3 – General format of a ZIP file](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT)
 */
export async function unzip(
  bytes: Uint8Array,
  { name, maxUnpackedSize, unpacked, signal }: LoaderOptions,
  isWanted: (path: string) => boolean,
): Promise<UnpackedFiles> {
  const { Inflate } = await import('fflate');
  const entries = readDirectory(bytes, name).filter(({ path }) => isWanted(path));
  const tooLarge = (): QuiverError => tooLargeDocument(name, `it unpacks to more than ${maxUnpackedSize} bytes`);
  if (entries.reduce((sum, { size }) => sum + size, unpacked.size) > maxUnpackedSize) throw tooLarge();
  const files = new Map<string, Uint8Array>();
  let pauseAt = unpacked.size + pauseSize;
  for (const { path, method, size, data } of entries) {
    if (method !== 0 && method !== 8) throw unreadableDocument(name, `it uses the compression method ${method}.`);
    const file = method === 0 ? data : new Uint8Array(size);
    let length = method === 0 ? data.length : 0;
    const inflate = new Inflate((part) => {
      unpacked.size += part.length;
      if (unpacked.size > maxUnpackedSize) throw tooLarge();
      if (length + part.length <= size) file.set(part, length);
      length += part.length;
    });
    const deflated = method === 0 ? data.subarray(data.length) : data;
    for (let start = 0; start < deflated.length; start += stepSize) {
      inflate.push(deflated.subarray(start, start + stepSize), start + stepSize >= deflated.length);
      if (unpacked.size < pauseAt) continue;
      pauseAt = unpacked.size + pauseSize;
      await new Promise((resolve) => setTimeout(resolve));
      signal?.throwIfAborted();
    }
    if (length !== size) throw unreadableDocument(name, `its part ${path} has ${length} instead of ${size} bytes.`);
    files.set(path, file);
  }
  return files;
}

const signatures = { end: 0x06054b50, entry: 0x02014b50, file: 0x04034b50 };
const endSize = 22;
const maxCommentSize = 65_535;

/** Reads the list of files at the end of the archive. Archives above 4 GB (ZIP64) are not supported. */
function readDirectory(bytes: Uint8Array, name: string): Entry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length >= 8 && view.getUint32(0) === 0xd0cf11e0) {
    throw new QuiverError(
      'DOCUMENT_ENCRYPTED',
      `${name} is protected by a password, or has the format of Office 97 to 2003. Save it without a password in a current format.`,
      { details: { name } },
    );
  }
  const damaged = unreadableDocument(name, 'it is not a complete ZIP archive.');
  let end = bytes.length - endSize;
  const lowest = Math.max(0, end - maxCommentSize);
  while (end >= lowest && view.getUint32(end, true) !== signatures.end) end -= 1;
  if (end < lowest) throw damaged;
  const entries: Entry[] = [];
  try {
    const count = view.getUint16(end + 10, true);
    let at = view.getUint32(end + 16, true);
    for (let index = 0; index < count; index += 1) {
      if (view.getUint32(at, true) !== signatures.entry) throw damaged;
      const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
      const nameEnd = at + 46 + nameLength!;
      const path = new TextDecoder().decode(bytes.subarray(at + 46, nameEnd));
      if (view.getUint16(at + 8, true) & 1) throw encryptedDocument(name);
      const fileAt = view.getUint32(at + 42, true);
      if (view.getUint32(fileAt, true) !== signatures.file) throw damaged;
      const start = fileAt + 30 + view.getUint16(fileAt + 26, true) + view.getUint16(fileAt + 28, true);
      const compressedSize = view.getUint32(at + 20, true);
      if (start + compressedSize > bytes.length) throw damaged;
      entries.push({
        path,
        method: view.getUint16(at + 10, true),
        size: view.getUint32(at + 24, true),
        data: bytes.subarray(start, start + compressedSize),
      });
      at = nameEnd + extraLength! + commentLength!;
    }
  } catch (error) {
    // A position outside of the file.
    throw error instanceof RangeError ? damaged : error;
  }
  return entries;
}

/** Returns the error of a file that only its owner can decrypt. */
export function encryptedDocument(name: string, remedy = 'Save it without a password or copy protection'): QuiverError {
  return new QuiverError('DOCUMENT_ENCRYPTED', `${name} is encrypted. ${remedy}.`, { details: { name } });
}
