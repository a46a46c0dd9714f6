import { QuiverError } from '@quiver/core';
import type { VectorMetadata } from '../../store/vector-store.js';

/** A condition in Chroma's own language. */
export type ChromaWhere = Record<string, unknown>;

interface ChromaRows {
  include: ('embeddings' | 'metadatas' | 'documents' | 'distances')[];
  where?: ChromaWhere;
  whereDocument?: ChromaWhere;
}

interface ChromaRecords {
  metadatas: (VectorMetadata | null)[];
  documents: (string | null)[];
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
  get(
    params: ChromaRows & { ids?: string[]; limit?: number; offset?: number },
  ): Promise<ChromaRecords & { ids: string[]; embeddings: number[][] }>;
  query(params: ChromaRows & { queryEmbeddings: number[][]; nResults: number }): Promise<{
    ids: string[][];
    distances: (number | null)[][];
    metadatas: (VectorMetadata | null)[][];
    documents: (string | null)[][];
    embeddings: (number[] | null)[][];
  }>;
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
  /** Default `localhost`. */
  host?: string;
  /** Default 8000. */
  port?: number;
  ssl?: boolean;
  tenant?: string;
  database?: string;
  headers?: Record<string, string>;
  /** Connects to Chroma Cloud. */
  apiKey?: string;
}

/**
 * @param signal - ends the requests of a client of the store's own; not those of one that was given
 * @throws `VECTOR_CLIENT_MISSING` when `chromadb` is needed and not installed
 */
export async function openChroma(
  { client, apiKey, ...connection }: ChromaConnectionOptions,
  signal?: AbortSignal,
): Promise<ChromaLikeClient> {
  if (client) return client;
  const options = { ...connection, ...(signal && { fetchOptions: { signal } }) };
  const chroma = await import('chromadb').catch((error: unknown) => {
    throw new QuiverError('VECTOR_CLIENT_MISSING', "Chroma needs the package 'chromadb': npm install chromadb", {
      cause: error,
    });
  });
  return apiKey === undefined ? new chroma.ChromaClient(options) : new chroma.CloudClient({ ...options, apiKey });
}
