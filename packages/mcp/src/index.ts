export * from './auth/index.js';
export * from './client/index.js';
export * from './server/index.js';
