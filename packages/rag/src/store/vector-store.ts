/** Similarity of vectors. `cosine` ignores their length; `dotproduct` gives the same order for vectors of length 1. */
export type VectorMetric = 'cosine' | 'euclidean' | 'dotproduct';

/** Metadata of a vector, as JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- the application's own keys
export type VectorMetadata = Record<string, any>;

/** A condition on metadata in the filter language, checked by `parseFilter`. */
// oxlint-disable-next-line typescript/no-explicit-any -- field names are the application's, operators are checked at run time
export type VectorFilter = Record<string, any> | null | undefined;

/** A record of a store. */
export interface VectorRecord {
  id: string;
  /** Present when requested by `includeVector`. */
  vector?: number[];
  metadata: VectorMetadata;
  /** The text that the vector stands for. */
  document?: string;
}

/** A record found by a query. */
export interface VectorMatch extends VectorRecord {
  /** In [0, 1], larger is better, see {@link VectorStore}. */
  score: number;
  /** Searches of a hybrid query that found the record. A search that no match names found nothing that ranks among the results. */
  foundBy?: readonly ('vector' | 'keyword')[];
  /**
   * How far its similarity is above that of the 20th nearest chunk. The unit is the distance from there to the 40th, or from the 10th if that is
   * larger; the nearest of random vectors has about 3. Only where a search by vectors has found 40 chunks, in stores whose hybrid search is Quiver's.
   */
  standsOut?: number;
}

/** How records are found: by their vectors, by the words of their texts, or by both. */
export type QueryMode = 'vector' | 'keyword' | 'hybrid';

/** Optional features of a store. Shared code reads these and never the name of a store. */
export interface VectorStoreCapabilities {
  /** The modes that `query` accepts; the others are rejected with `VECTOR_QUERY_UNSUPPORTED`. */
  readonly modes: readonly QueryMode[];
  /**
   * Ranking of the keyword mode: `bm25` is exactly the order of `Bm25Index`, `native` is the ranking of the database.
   * Absent where there is no keyword mode.
   */
  readonly keywordRanking?: 'bm25' | 'native';
  /**
   * Settings of the block of `databaseConfig` that restrict the records of a read as a filter does, such as a namespace. A query tool warns of
   * documents of several owners if it has neither a filter nor one of these. Default none.
   */
  readonly restrictions?: readonly string[];
}

/** Calls that wait, for a disk or a server, end early when the signal fires: they reject with its reason. */
export interface Cancellable {
  signal?: AbortSignal | undefined;
}

/** How much each ranking counts in a hybrid query. Not negative, not both 0. */
export interface FusionWeights {
  /** Default 1. */
  vector?: number;
  /** Default 1. */
  keyword?: number;
}

/** Results that say different things rather than the same thing in other words (maximal marginal relevance). */
export interface MmrOptions {
  /** From 0, only different from each other, to 1, only relevant. Default 0.5. */
  lambda?: number;
  /** The best so many results are chosen from. Default four times `topK`, at least 20. */
  candidates?: number;
}

/** Name of an index. */
export interface IndexParams extends Cancellable {
  /** Name of the index. */
  indexName: string;
}

/** Parameters of `createIndex()`. */
export interface CreateIndexParams extends IndexParams {
  /** Length of every vector of the index. */
  dimension: number;
  /** Default `cosine`. */
  metric?: VectorMetric | undefined;
}

/** Parameters of `upsert()`. */
export interface UpsertParams extends IndexParams {
  /** One vector per record. */
  vectors: readonly (readonly number[] | Float32Array)[];
  /** One per vector. */
  metadata?: readonly VectorMetadata[] | undefined;
  /** One per vector; default: random UUIDs. An id that exists is replaced; of equal ids in one call the last one wins. */
  ids?: readonly string[] | undefined;
  /** The text of each vector. */
  documents?: readonly (string | undefined)[] | undefined;
}

/** Parameters of `query()`. */
export interface QueryParams extends IndexParams {
  /** Default `vector`. */
  mode?: QueryMode | undefined;
  /** Needed unless the mode is `keyword`. */
  queryVector?: readonly number[] | Float32Array | undefined;
  /** Query text; required unless the mode is `vector`, which ignores it. */
  queryText?: string | undefined;
  /** For the mode `hybrid`. */
  fusion?: FusionWeights | undefined;
  /** Default: none; results may repeat each other. */
  mmr?: MmrOptions | undefined;
  /** Default 10. */
  topK?: number | undefined;
  /** Filter of metadata. Default: every record. */
  filter?: VectorFilter;
  /** Default `false`. */
  includeVector?: boolean | undefined;
}

/** Parameters of `get()`. */
export interface GetParams extends IndexParams {
  /** Ids of the records. */
  ids: readonly string[];
  /** Whether records have their vectors. Default `false`. */
  includeVector?: boolean | undefined;
}

/** Either one record or all that match a filter. */
type RecordSelection = { id: string; filter?: never } | { id?: never; filter: VectorFilter };

/** Parameters of `updateVector()`. */
export type UpdateVectorParams = IndexParams & {
  /** New values. */
  update: { vector?: readonly number[] | Float32Array; metadata?: VectorMetadata; document?: string };
} & RecordSelection;

/** Parameters of `deleteVectors()`. */
export type DeleteVectorsParams = IndexParams &
  (
    | {
        /** Ids of the records. */
        ids: readonly string[];
        filter?: never;
      }
    | {
        ids?: never;
        /** Filter of metadata. */
        filter: VectorFilter;
      }
  );

/** Parameters of `listVectors()`. */
export interface ListVectorsParams extends IndexParams {
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
  /** Records per page. Default 1,000. */
  limit?: number | undefined;
  /** Filter of metadata. Default: every record. */
  filter?: VectorFilter;
  /** Whether records have their vectors. Default `false`. */
  includeVector?: boolean | undefined;
}

/** One page of `listVectors()`. */
export interface VectorPage {
  records: VectorRecord[];
  /** Absent on the last page. */
  nextCursor?: string;
}

/** Parameters of `version()`. */
export interface VersionParams extends IndexParams {
  /** Filter of metadata. Default: every record. */
  filter?: VectorFilter;
  /** Default: any number. */
  maxRecords?: number | undefined;
}

/**
 * Data derived from an index, such as its graph, stored next to it and deleted with it. They can be
 * calculated again, so their loss is harmless. When records are deleted, they become empty: they may contain parts of the records.
 */
export interface DerivedData {
  read(params: IndexParams & { name: string }): Promise<Uint8Array | undefined>;
  /**
   * Replaces the data under the name.
   *
   * @returns `false` where the place for it does not exist yet; {@link DerivedData.prepare} makes it
   */
  write(params: IndexParams & { name: string; data: Uint8Array }): Promise<boolean>;
  /** Makes the place for derived data. Needs the right to create tables where that place is a table. */
  prepare(params?: Cancellable): Promise<void>;
}

/** Result of `describeIndex()`. */
export interface IndexDescription {
  dimension: number;
  count: number;
  metric: VectorMetric;
}

/**
 * Interface of every vector store.
 *
 * **Scores** are in [0, 1] and comparable between stores: cosine similarity, negative values as 0; `1 / (1 + distance)` for
 * euclidean; `1 / (1 + e^-x)` for dot products. Results are ordered by the exact similarity, before clamping, and by id where it
 * is equal. In the mode `keyword` a score is the text's share of the largest one that any text could reach for the query (BM25),
 * or the database's own; in the mode `hybrid` it is the share of the best possible one: 1 for a record that both searches put first. Scores of
 * different modes are not comparable with each other.
 *
 * **Errors.** Bad arguments, a missing index, an unsupported filter and an unavailable store all throw; an empty
 * result means that no record matched.
 */
export interface VectorStore {
  /** The block of a query tool's `databaseConfig` that belongs to this store, for example `pgvector`. */
  readonly databaseConfigKey: string;
  readonly capabilities: VectorStoreCapabilities;
  /** Creates an index; one that exists with the same dimension and metric is kept. @throws `VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH` */
  createIndex(params: CreateIndexParams): Promise<void>;
  /**
   * Stores all records or none; a service that limits the size of a request may store a part of them before an error.
   *
   * @returns their ids, in order
   */
  upsert(params: UpsertParams): Promise<string[]>;
  /** The best records, best first. @throws `VECTOR_QUERY_UNSUPPORTED` for a mode that {@link VectorStore.capabilities} does not name */
  query(params: QueryParams): Promise<VectorMatch[]>;
  /** Returns records in the order of the ids; ids that do not exist are omitted. */
  get(params: GetParams): Promise<VectorRecord[]>;
  /** Replaces the given parts of a record and keeps the others. */
  updateVector(params: UpdateVectorParams): Promise<void>;
  deleteVector(params: IndexParams & { id: string }): Promise<void>;
  deleteVectors(params: DeleteVectorsParams): Promise<void>;
  /** All records, page by page, ordered by id. */
  listVectors(params: ListVectorsParams): Promise<VectorPage>;
  listIndexes(params?: Cancellable): Promise<string[]>;
  describeIndex(params: IndexParams): Promise<IndexDescription>;
  /**
   * Changes whenever a record does that matches the filter: equal versions mean equal records. Absent in a store that cannot tell,
   * and in one whose block of `databaseConfig` chooses between records, such as a namespace.
   *
   * @returns `undefined` when more than `maxRecords` match, which is all that is counted then
   */
  version?(params: VersionParams): Promise<string | undefined>;
  /** Absent in a store that cannot keep any. */
  readonly derived?: DerivedData | undefined;
  /** Removes all records and keeps the index. */
  truncateIndex(params: IndexParams): Promise<void>;
  deleteIndex(params: IndexParams): Promise<void>;
}
