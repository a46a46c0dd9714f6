import type { DerivedData } from '../../store/vector-store.js';
import { type IndexHeader, type IndexOperation, LocalIndex } from './local-index.js';

/** An index and the way to change it. */
export interface StoredIndex {
  readonly index: LocalIndex;
  /** Other operations lead to another version. */
  readonly version: string;
  /** Returns when the change is as durable as the place it is kept in. After an error the index is as before. */
  append(operation: IndexOperation): Promise<void>;
}

/** Where indexes are kept: in memory, or in a folder. */
export interface IndexHolder {
  list(): Promise<string[]>;
  find(name: string): Promise<StoredIndex | undefined>;
  /** As `find`, for a caller that is going to change the index. */
  findToWrite(name: string): Promise<StoredIndex | undefined>;
  create(header: IndexHeader): Promise<void>;
  delete(name: string): Promise<void>;
  close(): Promise<void>;
  readonly derived?: DerivedData;
}

/** Counted for all indexes in memory together: an index that is made again under its name has no version of the one before. */
let changesInMemory = 0;

/** Keeps indexes as long as the object lives. */
export function createMemoryHolder(): IndexHolder {
  const indexes = new Map<string, StoredIndex>();
  const find = (name: string): Promise<StoredIndex | undefined> => Promise.resolve(indexes.get(name));
  return {
    list: async () => [...indexes.keys()],
    find,
    findToWrite: find,
    create: async (header) => {
      const index = new LocalIndex(header);
      const stored = {
        index,
        version: String((changesInMemory += 1)),
        append: async (operation: IndexOperation) => {
          index.apply(operation);
          stored.version = String((changesInMemory += 1));
        },
      };
      indexes.set(header.name, stored);
    },
    delete: async (name) => void indexes.delete(name),
    close: async () => indexes.clear(),
  };
}
