/** How vectors are compared. `cosine` ignores their length; `dotproduct` is the same for vectors of length 1, and faster elsewhere. */
export type VectorMetric = 'cosine' | 'euclidean' | 'dotproduct';

/** Metadata of a vector, as JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- the application's own keys
export type VectorMetadata = Record<string, any>;

/** A condition on metadata in the filter language, checked by `parseFilter`. */
// oxlint-disable-next-line typescript/no-explicit-any -- field names are the application's, operators are checked at run time
export type VectorFilter = Record<string, any> | null | undefined;

/** What a store keeps under one id. */
export interface VectorRecord {
  id: string;
  /** Present when it was asked for. */
  vector?: number[];
  metadata: VectorMetadata;
  /** The text that the vector stands for. */
  document?: string;
}

/** A record found by a query. */
export interface VectorMatch extends VectorRecord {
  /** In [0, 1], larger is better, see {@link VectorStore}. */
  score: number;
}

export interface CreateIndexParams {
  indexName: string;
  /** Length of every vector of the index. */
  dimension: number;
  /** Default `cosine`. */
  metric?: VectorMetric;
}

export interface UpsertParams {
  indexName: string;
  vectors: readonly (readonly number[] | Float32Array)[];
  /** One per vector. */
  metadata?: readonly VectorMetadata[];
  /** One per vector; default: random UUIDs. An id that exists is replaced; of equal ids in one call the last one wins. */
  ids?: readonly string[];
  /** The text of each vector. */
  documents?: readonly (string | undefined)[];
}

export interface QueryParams {
  indexName: string;
  queryVector: readonly number[] | Float32Array;
  /** Default 10. */
  topK?: number;
  filter?: VectorFilter;
  /** Default `false`. */
  includeVector?: boolean;
}

export interface GetParams {
  indexName: string;
  ids: readonly string[];
  includeVector?: boolean;
}

/** Either one record or all that pass a filter. */
export type RecordSelection = { id: string; filter?: never } | { id?: never; filter: VectorFilter };

export type UpdateVectorParams = {
  indexName: string;
  update: { vector?: readonly number[] | Float32Array; metadata?: VectorMetadata; document?: string };
} & RecordSelection;

export type DeleteVectorsParams = { indexName: string } & (
  | { ids: readonly string[]; filter?: never }
  | { ids?: never; filter: VectorFilter }
);

export interface ScanParams {
  indexName: string;
  /** Where the page before ended. */
  cursor?: string;
  /** Records per page. Default 1,000. */
  limit?: number;
  filter?: VectorFilter;
  includeVector?: boolean;
}

export interface ScanPage {
  records: VectorRecord[];
  /** Absent on the last page. */
  nextCursor?: string;
}

export interface IndexDescription {
  dimension: number;
  count: number;
  metric: VectorMetric;
}

/**
 * What every vector store offers.
 *
 * **Scores** are comparable between stores: cosine similarity clamped to [0, 1]; `1 / (1 + distance)` for euclidean;
 * `1 / (1 + e^-x)` for dot products. Results are ordered by the exact similarity, before clamping, and by id where it is equal.
 *
 * **Errors.** Bad arguments, a missing index, a filter that cannot be honoured and a store that is down all throw; an empty
 * result means that nothing matched.
 */
export interface VectorStore {
  /** The block of a query tool's `databaseConfig` that belongs to this store, for example `pgvector`. */
  readonly databaseConfigKey: string;
  /** Creates an index; one that exists with the same dimension and metric is kept. @throws `VECTOR_VALIDATE_INDEX_DIMENSION_MISMATCH` */
  createIndex(params: CreateIndexParams): Promise<void>;
  /** Stores all records or none. @returns their ids, in order */
  upsert(params: UpsertParams): Promise<string[]>;
  query(params: QueryParams): Promise<VectorMatch[]>;
  /** Ids that do not exist are left out. */
  get(params: GetParams): Promise<VectorRecord[]>;
  /** Replaces what is given and keeps the rest. */
  updateVector(params: UpdateVectorParams): Promise<void>;
  deleteVector(params: { indexName: string; id: string }): Promise<void>;
  deleteVectors(params: DeleteVectorsParams): Promise<void>;
  /** All records, page by page, ordered by id. */
  scan(params: ScanParams): Promise<ScanPage>;
  listIndexes(): Promise<string[]>;
  describeIndex(params: { indexName: string }): Promise<IndexDescription>;
  /** Removes all records and keeps the index. */
  truncateIndex(params: { indexName: string }): Promise<void>;
  deleteIndex(params: { indexName: string }): Promise<void>;
}
