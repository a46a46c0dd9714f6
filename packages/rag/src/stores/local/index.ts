export { type LocalCreateIndexParams, LocalVector, type LocalVectorOptions } from './local-vector.js';
