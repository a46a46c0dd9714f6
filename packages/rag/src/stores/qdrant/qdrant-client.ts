import { invalidOptions } from '@quiver/core/internal';
import { rejectBeside } from '../../store/options.js';
import { clientMissing } from '../store-call.js';

/** A point as Qdrant returns it. */
export interface QdrantLikePoint {
  payload?: Record<string, unknown> | null | undefined;
  vector?: unknown;
}

/** The part of a `QdrantClient` that is called. */
export interface QdrantLikeClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- generated types of the client, wider than the requests
  createCollection(name: string, params: any): Promise<unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  createPayloadIndex(name: string, params: any): Promise<unknown>;
  getCollection(name: string): Promise<{ config: { params: { vectors?: unknown; sparse_vectors?: object | null } } }>;
  getCollections(): Promise<{ collections: { name: string }[] }>;
  deleteCollection(name: string): Promise<unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  upsert(name: string, params: any): Promise<unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  delete(name: string, params: any): Promise<unknown>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  query(name: string, params: any): Promise<{ points: (QdrantLikePoint & { score: number })[] }>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  scroll(name: string, params: any): Promise<{ points: QdrantLikePoint[]; next_page_offset?: unknown }>;
  retrieve(
    name: string,
    params: { ids: string[]; with_payload: string[]; with_vector: string[] | false },
  ): Promise<QdrantLikePoint[]>;
  count(name: string, params: { exact: boolean }): Promise<{ count: number }>;
}

/** Where the server is: a client of yours, or how to connect. */
export interface QdrantConnectionOptions {
  /** A `QdrantClient`. */
  client?: QdrantLikeClient;
  /** Address of the server, such as `http://localhost:6333`. Without a port: 6333. */
  url?: string;
  /** Key of Qdrant Cloud, or of a protected server. */
  apiKey?: string;
  /** Passed to the client, where the scheme of `url` takes precedence. */
  https?: boolean;
}

/** @throws `OPTIONS_INVALID` unless the options contain exactly one connection */
export function requireQdrantConnection({ client, ...connection }: QdrantConnectionOptions): void {
  if (client) return rejectBeside('QdrantVector', 'client', { ...connection });
  const { url } = connection;
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol))
    throw invalidOptions('QdrantVector needs a client or a url, such as http://localhost:6333.');
  if (address.pathname !== '/')
    throw invalidOptions(`The url of Qdrant has the path '${address.pathname}'; pass a client with a prefix instead.`);
}

/** @throws `VECTOR_CLIENT_MISSING` when `@qdrant/js-client-rest` is needed and not installed */
export async function openQdrant({ client, ...connection }: QdrantConnectionOptions): Promise<QdrantLikeClient> {
  if (client) return client;
  const { QdrantClient } = await import('@qdrant/js-client-rest').catch(
    clientMissing('Qdrant', '@qdrant/js-client-rest'),
  );
  // It would write a warning to the console.
  return new QdrantClient({ ...connection, checkCompatibility: false });
}

/** Adds the reason to an error of the client, whose message is only the name of the HTTP status. */
export function withReason(error: unknown): unknown {
  const reason = (error as { data?: { status?: { error?: unknown } } } | null)?.data?.status?.error;
  if (error instanceof Error && typeof reason === 'string' && !error.message.includes(reason))
    error.message = `${error.message}: ${reason}`;
  return error;
}

export function isNotFound(error: unknown): boolean {
  return (error as { status?: unknown } | null)?.status === 404;
}
