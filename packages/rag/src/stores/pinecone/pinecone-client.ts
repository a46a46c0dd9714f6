import { invalidOptions } from '@quiver/core/internal';
import type { SparseVector } from '../../words/lexical-sparse-encoder.js';
import { clientMissing } from '../store-call.js';
import type { VectorMetadata } from '../../store/vector-store.js';

export interface PineconeRecord {
  id: string;
  values?: number[];
  sparseValues?: SparseVector;
  metadata?: VectorMetadata;
}

/** The part of an index of the SDK that is called. */
export interface PineconeLikeIndex {
  upsert(params: { records: PineconeRecord[] }): Promise<unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a union of many forms in the SDK
  query(params: any): Promise<{ matches?: (PineconeRecord & { score?: number })[] }>;
  fetch(params: { ids: string[] }): Promise<{ records?: Record<string, PineconeRecord> }>;
  listPaginated(params: { limit: number; paginationToken?: string }): Promise<{
    vectors?: { id?: string }[];
    pagination?: { next?: string };
  }>;
  deleteMany(params: { ids: string[] }): Promise<unknown>;
  deleteAll(): Promise<unknown>;
  describeIndexStats(): Promise<{ namespaces?: Record<string, { recordCount?: number }> }>;
}

/** The part of a `Pinecone` client that is called. */
export interface PineconeLikeClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- generated types of the SDK, wider than the requests
  createIndex(params: any): Promise<unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above; read by toShape()
  describeIndex(name: string): Promise<any>;
  listIndexes(): Promise<{ indexes?: { name: string }[] }>;
  deleteIndex(name: string): Promise<unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  index(params: any): any;
}

/** Connection of `PineconeVector`. */
export interface PineconeConnectionOptions {
  /** A `Pinecone` client. */
  client?: PineconeLikeClient;
  /** For a client of the store's own. */
  apiKey?: string;
  /** Another address of the service, for tests and proxies. */
  controllerHostUrl?: string;
}

/**
 * @param signal - ends the requests of a client that the store created, not those of a client that was passed
 * @throws `OPTIONS_INVALID` with neither a client nor a key; `VECTOR_CLIENT_MISSING` without the SDK
 */
export async function openPinecone(
  { client, apiKey, controllerHostUrl }: PineconeConnectionOptions,
  signal?: AbortSignal,
): Promise<PineconeLikeClient> {
  if (client) return client;
  if (!apiKey) throw invalidOptions('PineconeVector needs a client or an apiKey.');
  const { Pinecone } = await import('@pinecone-database/pinecone').catch(
    clientMissing('Pinecone', '@pinecone-database/pinecone'),
  );
  return new Pinecone({
    apiKey,
    ...(controllerHostUrl !== undefined && { controllerHostUrl }),
    ...(signal && { fetchApi: (input, init) => fetch(input, { ...init, signal }) }),
  });
}
