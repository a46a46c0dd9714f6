/**
 * `@quiver/rag/store`: the contract of vector stores, for stores of your own.
 *
 * @module
 */
export type * from './vector-store.js';
