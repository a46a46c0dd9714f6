export { LocalVector, type LocalVectorOptions } from './local-vector.js';
