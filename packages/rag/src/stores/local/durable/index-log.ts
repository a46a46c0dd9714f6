import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getDefaultLogger, QuiverError, toErrorMessage } from '@quiver/core';
import { toStoreFailure } from '../../store-call.js';
import { type IndexHeader, type IndexOperation, LocalIndex, type StoredIndex, toUpsert } from '../local-index.js';
import { checksumOf, encodeEntry, type LogOperation, type ReadOperation } from './log-format.js';
import { readEntries } from './read-entries.js';
import { wordsExtension, WordsFile } from './words-file.js';

/** Records per entry when an index is rewritten; bounds the memory. */
const compactionBatch = 1000;
/** So many superseded records are not worth a compaction. */
const minSuperseded = 1000;

/** Ends the names of logs. */
export const logExtension = '.qvlog';
/** Ends the names of files that are still being written. */
export const temporaryExtension = '.new';

/** The right to write, from the lock of the folder. */
export interface LogWriter {
  /** Grows with every owner of the lock. */
  readonly generation: number;
  /** Whether the previous writer may still run and hold files open: indexes are then written to new files. */
  readonly mustReplace: boolean;
  /** @throws `VECTOR_STORE_LOCK_LOST` */
  requireHeld(): Promise<void>;
}

/**
 * One index and the append-only file that it comes from. Every change is on the disk before it is in memory; a change that was
 * cut off by a crash is discarded.
 */
export class IndexLog implements StoredIndex {
  readonly #file: string;
  readonly #words: WordsFile;
  #index: LocalIndex | undefined;
  #handle: FileHandle;
  #inode: number;
  /** End of the last complete entry, in bytes. */
  #end = 0;
  /** Records in the file, superseded and deleted ones included. */
  #written = 0;
  /** Chained checksum of all entries. */
  #chain = 0;
  #broken: Error | undefined;
  #writer: LogWriter | undefined;
  #refreshed: Promise<boolean> = Promise.resolve(true);

  private constructor(file: string, words: WordsFile, handle: FileHandle, inode: number) {
    this.#file = file;
    this.#words = words;
    this.#handle = handle;
    this.#inode = inode;
  }

  get index(): LocalIndex {
    // Every log that was opened has one.
    return this.#index as LocalIndex;
  }

  /** Equal in every process that reads the same file. */
  get version(): string {
    return `${this.#end}-${this.#chain.toString(16)}`;
  }

  /** Creates the file of a new index. The name appears only when the file is whole. */
  static async create(file: string, header: IndexHeader, writer: LogWriter): Promise<IndexLog> {
    const { handle } = await writeWhole(file, [{ type: 'create', header }], writer);
    await handle.close();
    await syncFolder(dirname(file));
    return IndexLog.open(file);
  }

  /** Reads an index. @throws `VECTOR_STORE_CORRUPT` */
  static async open(file: string): Promise<IndexLog> {
    const handle = await open(file, 'r');
    try {
      const { ino, size } = await handle.stat();
      const log = new IndexLog(file, await WordsFile.open(wordsFileOf(file)), handle, ino);
      await log.#read(size);
      if (log.#index) return log;
      throw new QuiverError(
        'VECTOR_STORE_CORRUPT',
        `The index file ${file} does not begin with the description of an index.`,
      );
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Applies the changes that another process has written since the last read.
   *
   * @returns `false` when the file was replaced or removed: open it again
   */
  refresh(): Promise<boolean> {
    // One after another: two at once would apply the same entries twice, in between each other.
    this.#refreshed = this.#refreshed.catch(() => false).then(() => this.#refresh());
    return this.#refreshed;
  }

  async #refresh(): Promise<boolean> {
    const now = await stat(this.#file).catch(() => undefined);
    if (!now || now.ino !== this.#inode || now.size < this.#end) return false;
    if (now.size === this.#end) return true;
    await this.#read(now.size);
    return true;
  }

  /** Applies the entries behind those that were read. @param size - length of the file */
  async #read(size: number): Promise<void> {
    const range = { file: this.#file, handle: this.#handle, start: this.#end, end: size };
    await readEntries(range, {
      reserve: (byteLength) => this.#index?.reserve(byteLength),
      apply: (operation, checksum, end) => this.#apply(operation, checksum, end),
    });
  }

  /** Makes the log writable: truncates an incomplete entry that a crash left at its end. */
  async prepareToWrite(writer: LogWriter): Promise<void> {
    this.#writer = writer;
    if (writer.mustReplace) return this.#rewrite(writer);
    const handle = await open(this.#file, 'r+');
    await this.#handle.close();
    this.#handle = handle;
    await handle.truncate(this.#end);
  }

  /**
   * Returns when the operation is on the disk and in memory. After an error neither holds it, except when the memory is exhausted: the
   * file then holds it, and the log can no longer be written.
   *
   * @throws `VECTOR_STORE_FAILED` with the path, for example when the disk is full; `VECTOR_STORE_LOCK_LOST`
   */
  async append(operation: IndexOperation): Promise<void> {
    const writer = this.#writer as LogWriter;
    if (this.#broken) {
      throw new QuiverError(
        'VECTOR_STORE_UNUSABLE',
        `The index file ${this.#file} can no longer be written after an earlier error; close the store and open it again.`,
        { cause: this.#broken },
      );
    }
    const entry = encodeEntry(operation);
    await writer.requireHeld();
    try {
      await writeAll(this.#handle, entry, this.#end);
      await this.#handle.datasync();
    } catch (error) {
      await this.#handle.truncate(this.#end).catch((truncation: Error) => (this.#broken = truncation));
      throw toFileFailure(error, this.#file);
    }
    // A process that was suspended since the first check has written to a file that its successor replaced.
    await writer.requireHeld();
    try {
      this.#apply(operation, checksumOf(entry), this.#end + entry.byteLength);
    } catch (error) {
      // The file has the whole change, and the memory a part of it.
      this.#broken = error as Error;
      throw error;
    }
    await this.#compactIfWorthIt(writer);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Applies an entry of the file. @param end - of the entry */
  #apply(operation: IndexOperation | ReadOperation, checksum: number, end: number): void {
    if (operation.type === 'create') this.#index = new LocalIndex(operation.header, this.#words);
    else this.index.apply(operation);
    if (operation.type === 'upsert') this.#written += operation.rows.length;
    this.#end = end;
    this.#chain = chainOf(this.#chain, checksum);
    this.index.words.reach(this.version);
  }

  /** Rewrites the index when more than half of the records in the log are superseded. */
  async #compactIfWorthIt(writer: LogWriter): Promise<void> {
    if (this.#written < 2 * this.index.count + minSuperseded) return;
    try {
      await this.#rewrite(writer);
    } catch (error) {
      // The change is safe in the log; only the size of the log does not shrink.
      getDefaultLogger().warn(`The index file ${this.#file} could not be compacted: ${toErrorMessage(error)}`);
    }
    this.#written = this.index.count;
  }

  /** Writes the index to a new file and puts it in the place of the log. */
  async #rewrite(writer: LogWriter): Promise<void> {
    const { handle, inode, end, chain } = await writeWhole(this.#file, contentsOf(this.index), writer);
    // The name refers to the new file now. After an error below, nothing may be written to the old file.
    const old = this.#handle;
    this.#handle = handle;
    this.#inode = inode;
    this.#end = end;
    this.#chain = chain;
    await this.index.words.renew(this.version);
    await old.close();
    await syncFolder(dirname(this.#file)).catch((error: Error) => {
      // After a power failure, the name could refer to the old file again, without later changes.
      this.#broken = error;
      throw error;
    });
  }
}

function wordsFileOf(file: string): string {
  return `${file.slice(0, -logExtension.length)}${wordsExtension}`;
}

function* contentsOf(index: LocalIndex): Generator<LogOperation> {
  yield { type: 'create', header: index.header };
  let records = [];
  for (const record of index.records()) {
    records.push(record);
    if (records.length < compactionBatch) continue;
    yield toUpsert(records);
    records = [];
  }
  if (records.length > 0) yield toUpsert(records);
}

interface WrittenFile {
  readonly handle: FileHandle;
  readonly inode: number;
  /** Its length in bytes. */
  readonly end: number;
  /** Chained checksum of its entries. */
  readonly chain: number;
}

/** Writes a file next to the one that it replaces, and renames it when it is on the disk. The caller synchronizes the folder. */
async function writeWhole(
  file: string,
  operations: Iterable<LogOperation>,
  { generation, requireHeld }: LogWriter,
): Promise<WrittenFile> {
  // The name contains the generation of the writer, which removes the files of its predecessors.
  const temporary = `${file}.${generation}${temporaryExtension}`;
  let [end, chain] = [0, 0];
  let handle: FileHandle | undefined;
  try {
    handle = await open(temporary, 'w+');
    for (const operation of operations) {
      const entry = encodeEntry(operation);
      await writeAll(handle, entry, end);
      end += entry.byteLength;
      chain = chainOf(chain, checksumOf(entry));
    }
    await handle.datasync();
    const { ino: inode } = await handle.stat();
    await requireHeld();
    await rename(temporary, file);
    return { handle, inode, end, chain };
  } catch (error) {
    await handle?.close();
    await unlink(temporary).catch(() => {});
    throw toFileFailure(error, file);
  }
}

function toFileFailure(error: unknown, path: string): unknown {
  return toStoreFailure(error, { store: 'LocalVector', what: `writing ${path}` }, { path });
}

/** Order counts. */
function chainOf(chain: number, checksum: number): number {
  return (Math.imul(chain ^ checksum, 0x01_00_01_93) ^ (chain >>> 15)) >>> 0;
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    done += (await handle.write(bytes, done, bytes.byteLength - done, position + done)).bytesWritten;
  }
}

/** A rename survives a power failure only when its folder is on the disk too. Windows does not allow it and does not need it. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
