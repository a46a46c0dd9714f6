import { packageVersion } from '@quiver/core/version';
import { canonicalJson, contentHash } from '../document/content-hash.js';
import type { MDocument } from '../document/document.js';
import type { Cancellable, VectorStore } from '../store/vector-store.js';
import type { Sources } from './delete-documents.js';
import { callStore, type IngestTarget } from './ingest-target.js';
import { toScopeFilter } from '../store/scope.js';

/** Chunks of one run. Above this number the list of documents is not stored: it takes about 35 bytes for each chunk. */
const maxChunks = 1_000_000;

/** Documents of the last run, and the state of the index after it. */
interface StoredDocuments {
  version: string;
  cleanup: 'source' | 'all' | 'none';
  /** By their hashes; stored as an object. */
  documents: ReadonlyMap<string, KnownDocument>;
}

/** A document whose chunks are stored. */
interface KnownDocument {
  /** Ids of its chunks and their further vectors. */
  ids: readonly string[];
  /** Hashes of its sources. */
  sources: readonly string[];
  /** Whether the next run compares it: a model has failed, or another document has one of its records as well. */
  isPartial?: true;
}

/** The runs in progress, by store and index. */
const inProgress = new WeakMap<VectorStore, Map<string, Set<RunInProgress>>>();

/** A run, from before it reads the index until after its last change. */
export interface RunInProgress {
  /** Whether no other run of this process has used the index since. */
  isAlone: boolean;
  end(): void;
}

/**
 * Starts to observe other runs on the same index. Two runs can replace records of each other while the number of records is what both
 * expect.
 */
export function startRun({ store, indexName }: Pick<IngestTarget, 'store' | 'indexName'>): RunInProgress {
  const indexes = inProgress.get(store) ?? new Map<string, Set<RunInProgress>>();
  const runs = indexes.get(indexName) ?? new Set();
  inProgress.set(store, indexes.set(indexName, runs));
  for (const other of runs) other.isAlone = false;
  const run: RunInProgress = {
    isAlone: runs.size === 0,
    end: () => {
      runs.delete(run);
      if (runs.size === 0) indexes.delete(indexName);
    },
  };
  runs.add(run);
  return run;
}

/**
 * The documents whose chunks are known to be stored, so that a run need not chunk and compare them: those of the last run, by a hash of
 * everything that their records are made of, as long as no other call has changed the index since. The list is derived data of the index.
 * Without it, every chunk is compared.
 */
export class KnownDocuments {
  readonly #target: IngestTarget;
  readonly #identity: string;
  readonly #name: string;
  readonly #countBefore: number;
  #last: StoredDocuments | undefined;
  readonly #documents = new Map<string, KnownDocument>();
  /** Hashes of sources with a document that was not known. */
  readonly #changed = new Set<string>();
  #isEachKnown = true;

  private constructor(target: IngestTarget, identity: string, countBefore: number) {
    this.#target = target;
    this.#identity = identity;
    this.#name = nameOf(target);
    this.#countBefore = countBefore;
  }

  /**
   * @param settings - everything but the documents that decides what is stored
   * @returns `undefined` where documents cannot be known: the settings contain functions, or the store does not report changes or store derived data
   */
  static async read(target: IngestTarget, settings: unknown): Promise<KnownDocuments | undefined> {
    if (!target.store.version || !target.store.derived || !isPlain(settings)) return undefined;
    const { embedder, scope = {}, indexName, isUpdate } = target;
    // Another version may chunk differently.
    const identity = contentHash(canonicalJson([packageVersion, embedder.id, scope, settings]));
    const count = isUpdate
      ? (await callStore(target, (store, end) => store.describeIndex({ indexName, ...end }))).count
      : 0;
    const known = new KnownDocuments(target, identity, count);
    if (isUpdate) known.#last = await known.#readLast();
    return known;
  }

  hashOf(document: MDocument): string {
    return contentHash(this.#identity, document.contentHash());
  }

  /** Returns the document if all its chunks are stored. */
  find(hash: string): KnownDocument | undefined {
    const found = this.#last?.documents.get(hash);
    return found?.isPartial ? undefined : found;
  }

  /** Whether this run had the document before. */
  has(hash: string): boolean {
    return this.#documents.has(hash);
  }

  /**
   * Adds a document of this run.
   *
   * @param found - what {@link find} returned for it
   */
  add(
    hash: string,
    document: MDocument,
    run: { found: KnownDocument | undefined; ids: readonly string[]; isPartial: boolean },
  ): void {
    const { found, ids, isPartial } = run;
    const sources =
      found?.sources ?? document.sources.map(({ metadata }) => hashOfSource(canonicalJson(metadata['source'])));
    this.#documents.set(hash, { ids, sources, ...(isPartial && { isPartial }) });
    if (found) return;
    this.#isEachKnown = false;
    for (const source of sources) this.#changed.add(source);
  }

  /** Returns the sources that may have stale chunks, of those of all documents of the run. */
  sourcesToClean(sources: Sources): Sources {
    if (!this.#last || this.#last.cleanup === 'none') return sources;
    // A source without one of its documents.
    for (const [hash, { sources: own }] of this.#last.documents)
      if (!this.#documents.has(hash)) for (const source of own) this.#changed.add(source);
    if (this.#changed.size === 0) return new Map();
    return new Map([...sources].filter(([source]) => this.#changed.has(hashOfSource(source))));
  }

  /** Whether the index holds the same documents as after the last run, which removed all others. */
  get isWhole(): boolean {
    return this.#last?.cleanup === 'all' && this.#isEachKnown && this.#documents.size === this.#last.documents.size;
  }

  /**
   * Stores the list for the next run, unless another caller has changed the number of records during this one, or another run has used
   * the index.
   *
   * @param run - `grown`: by how many records; `isChanged`: whether it has stored or removed records; `sources`: of all documents; `ids`: of all records
   */
  async write(run: {
    grown: number;
    isChanged: boolean;
    cleanup: StoredDocuments['cleanup'];
    sources: Sources;
    ids: ReadonlySet<string>;
    progress: RunInProgress;
  }): Promise<void> {
    const { indexName } = this.#target;
    const version = await this.#version();
    if (version === undefined || (version === this.#last?.version && this.#isLast(run.cleanup))) return;
    // Another caller has changed a record since.
    if (this.#last && !run.isChanged && version !== this.#last.version) return;
    const { count } = await callStore(this.#target, (one, end) => one.describeIndex({ indexName, ...end }));
    const documents = new Map(this.#documents);
    // Documents of other sources stay known, but not as clean if they were not.
    if (this.#last && (run.cleanup === 'none' || (run.cleanup === 'source' && this.#last.cleanup !== 'none'))) {
      const ofRun = new Set(Array.from(run.sources.keys(), hashOfSource));
      for (const [hash, document] of this.#last.documents)
        if (!documents.has(hash) && !document.sources.some((source) => ofRun.has(source)))
          documents.set(hash, document.ids.some((id) => run.ids.has(id)) ? { ...document, isPartial: true } : document);
    }
    let chunks = 0;
    for (const { ids } of documents.values()) chunks += ids.length;
    if (!run.progress.isAlone || count !== this.#countBefore + run.grown || chunks > maxChunks) return;
    // An index that this run has created holds nothing else.
    const cleanup = this.#target.isUpdate ? run.cleanup : 'all';
    const data = encode({ version, cleanup, documents });
    await this.#ifAllowed(({ derived }, end) => derived?.write({ indexName, name: this.#name, data, ...end }));
  }

  /** Whether the stored list says the same about the documents of this run. */
  #isLast(cleanup: StoredDocuments['cleanup']): boolean {
    const last = this.#last;
    if (!last || (last.cleanup !== cleanup && last.cleanup !== 'all')) return false;
    return [...this.#documents].every(([hash, { isPartial }]) => {
      const stored = last.documents.get(hash);
      return stored !== undefined && stored.isPartial === isPartial;
    });
  }

  async #readLast(): Promise<StoredDocuments | undefined> {
    const { indexName } = this.#target;
    const data = await this.#ifAllowed(({ derived }, end) => derived?.read({ indexName, name: this.#name, ...end }));
    const stored = data && parse(data);
    return stored && stored.version === (await this.#version()) ? stored : undefined;
  }

  /** Derived data can be missing: an account that may not use them, or a full disk, does not fail the run. */
  async #ifAllowed<Result>(
    use: (store: VectorStore, cancellable: Cancellable) => Promise<Result> | undefined,
  ): Promise<Result | undefined> {
    const { store, signal } = this.#target;
    try {
      return await use(store, { signal });
    } catch {
      signal?.throwIfAborted();
      return undefined;
    }
  }

  #version(): Promise<string | undefined> {
    const { indexName, scope } = this.#target;
    const filter = toScopeFilter(scope);
    return callStore(this.#target, async (store, end) => store.version?.({ indexName, filter, ...end }));
  }
}

function nameOf({ scope }: IngestTarget): string {
  return scope ? `ingest-${contentHash(canonicalJson(scope))}` : 'ingest';
}

/** Derived data may remain for some time after a document was deleted: its source is not readable in them. */
function hashOfSource(canonicalSource: string): string {
  return contentHash(canonicalSource);
}

function encode(stored: StoredDocuments): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ ...stored, documents: Object.fromEntries(stored.documents) }));
}

/** Returns `undefined` for data of another form: they are calculated again. */
function parse(data: Uint8Array): StoredDocuments | undefined {
  try {
    const stored = JSON.parse(new TextDecoder().decode(data)) as Omit<StoredDocuments, 'documents'> & {
      documents: Record<string, KnownDocument>;
    };
    const documents = new Map(Object.entries(stored.documents));
    const isKnownForm = [...documents.values()].every(
      ({ ids, sources }) => Array.isArray(ids) && Array.isArray(sources),
    );
    return isKnownForm ? { ...stored, documents } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is JSON data, so that two values with equal JSON are equal. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value !== 'object' || value === null)
    return (
      value === undefined || value === null || Number.isFinite(value) || ['string', 'boolean'].includes(typeof value)
    );
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlain);
}
