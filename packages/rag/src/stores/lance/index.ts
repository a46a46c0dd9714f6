export type { LanceConnectionOptions } from './lance-client.js';
export type { LanceCreateIndexParams } from './lance-index.js';
export { LanceVectorStore, type LanceVectorStoreOptions } from './lance-vector-store.js';
