import type { VectorFilter } from '../store/index.js';

/** What a query in Pinecone takes beside the question. */
export interface PineconeConfig {
  /** Instead of the store's own. */
  namespace?: string;
  /** Weights of words, for an index that keeps them beside the vectors. */
  sparseVector?: { indices: number[]; values: number[] };
}

/** What a query in PostgreSQL takes beside the question. */
export interface PgVectorConfig {
  /** Only results with a score above this. */
  minScore?: number;
  /** Candidates that a search through an HNSW index keeps, 1 to 1,000: more find more, and take longer. */
  ef?: number;
  /** Lists that a search through an IVFFlat index visits. */
  probes?: number;
}

/** What a query in Chroma takes beside the question. */
export interface ChromaConfig {
  /** A further filter on metadata; both must hold. */
  where?: VectorFilter;
  /** A condition on the documents in Chroma's language, such as `{ $contains: 'API' }`. */
  whereDocument?: Record<string, unknown>;
}

/**
 * Settings of particular stores. A store receives the block of its own name (`databaseConfigKey`) and nothing
 * else.
 */
export interface DatabaseConfig {
  pinecone?: PineconeConfig;
  pgvector?: PgVectorConfig;
  chroma?: ChromaConfig;
  /** A store of your own. */
  [databaseConfigKey: string]: object | undefined;
}
