/**
 * `@quiver/rag/store`: the contract of vector stores, for your own stores.
 *
 * @module
 */
export type * from './vector-store.js';
