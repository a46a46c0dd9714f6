import type { IndexParams, VectorFilter, VectorStore } from './vector-store.js';

/**
 * Settings of particular stores. A store receives the block of its own name (`databaseConfigKey`) and nothing else. Each adapter adds
 * the type of its block to this interface (declaration merging); so can a store of yours:
 *
 * @example
 * declare module '@quiver/rag' {
 *   interface DatabaseConfig {
 *     mystore?: { replica?: string };
 *   }
 * }
 */
export interface DatabaseConfig {
  [databaseConfigKey: string]: object | undefined;
}

/** The records of an index that a call reads: what each `query` and `listVectors` of the call spreads. Settings of the store are among its members. */
export interface IndexRead extends IndexParams {
  filter: VectorFilter;
}

/** Returns the parameters of reads, with the block of `databaseConfig` that belongs to the store. */
export function toIndexRead(
  store: VectorStore,
  {
    databaseConfig,
    ...read
  }: IndexRead & { databaseConfig?: Readonly<Record<string, object | undefined>> | undefined },
): IndexRead {
  return { ...databaseConfig?.[store.databaseConfigKey], ...read };
}
