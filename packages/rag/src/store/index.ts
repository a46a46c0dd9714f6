export type * from './vector-store.js';
