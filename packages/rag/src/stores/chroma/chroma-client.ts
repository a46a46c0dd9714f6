import { rejectBeside } from '../../store/options.js';
import { clientMissing } from '../store-call.js';
import type { VectorMetadata } from '../../store/vector-store.js';

/** A condition in Chroma's own language. */
export type ChromaWhere = Record<string, unknown>;

/** Rows to read. */
export interface ChromaSelection {
  include: ('embeddings' | 'metadatas' | 'documents' | 'distances')[];
  where?: ChromaWhere;
  whereDocument?: ChromaWhere;
}

/** Rows of a response, one array per column. Columns that were not requested may be absent. */
export interface ChromaRows {
  ids: string[];
  metadatas?: (VectorMetadata | null)[] | undefined;
  documents?: (string | null)[] | undefined;
  embeddings?: (number[] | null)[] | undefined;
}

/** The part of a Chroma collection that is called. */
export interface ChromaCollection {
  readonly metadata?: VectorMetadata | null | undefined;
  count(): Promise<number>;
  upsert(records: {
    ids: string[];
    embeddings: number[][];
    metadatas: VectorMetadata[];
    documents: string[];
  }): Promise<unknown>;
  get(params: ChromaSelection & { ids?: string[]; limit?: number; offset?: number }): Promise<ChromaRows>;
  /** Each column has one array per query vector. */
  query(
    params: ChromaSelection & { queryEmbeddings: number[][]; nResults: number },
  ): Promise<{ [Column in keyof ChromaRows]: NonNullable<ChromaRows[Column]>[] } & { distances: (number | null)[][] }>;
  delete(params: { ids: string[] }): Promise<unknown>;
}

/** The part of a `ChromaClient` that is called. */
export interface ChromaLikeClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- the client's own types are wider and change with each release
  createCollection(params: any): Promise<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  getCollection(params: any): Promise<any>;
  listCollections(params: { limit: number; offset: number }): Promise<{ name: string; metadata?: unknown }[]>;
  deleteCollection(params: { name: string }): Promise<unknown>;
  getMaxBatchSize(): Promise<number>;
}

/** Where the server is: a client of yours, or how to connect. */
export interface ChromaConnectionOptions {
  /** A `ChromaClient` or `CloudClient`. */
  client?: ChromaLikeClient;
  /** Default `localhost`, or Chroma Cloud with an `apiKey`. */
  host?: string;
  /** Default 8000; 443 with an `apiKey`. */
  port?: number;
  /** Always with an `apiKey`. */
  ssl?: boolean;
  /** Tenant of the collections. Default: that of the server. */
  tenant?: string;
  /** Database of the collections. Default: that of the server. */
  database?: string;
  /** Headers of every request. */
  headers?: Record<string, string>;
  /** Connects to Chroma Cloud. */
  apiKey?: string;
}

/** @throws `OPTIONS_INVALID` for options that have no effect next to a client or a key */
export function requireConnection({ client, ...connection }: ChromaConnectionOptions): void {
  if (client) rejectBeside('ChromaVector', 'client', { ...connection });
  const { apiKey, ssl, headers } = connection;
  if (apiKey !== undefined) rejectBeside('ChromaVector', 'apiKey', { ssl, headers });
}

/**
 * @param signal - ends the requests of a client that the store created, not those of a client that was passed
 * @throws `VECTOR_CLIENT_MISSING` when `chromadb` is needed and not installed
 */
export async function openChroma(
  { client, apiKey, ...connection }: ChromaConnectionOptions,
  signal?: AbortSignal,
): Promise<ChromaLikeClient> {
  if (client) return client;
  const options = { ...connection, ...(signal && { fetchOptions: { signal } }) };
  const chroma = await import('chromadb').catch(clientMissing('Chroma', 'chromadb'));
  return apiKey === undefined ? new chroma.ChromaClient(options) : new chroma.CloudClient({ ...options, apiKey });
}
