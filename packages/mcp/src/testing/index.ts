/**
 * `@quiver/mcp/testing`: suites of tests for your own implementations. They need Vitest.
 *
 * @module
 */
export { describeSharedStore, type DescribeSharedStoreOptions } from './describe-shared-store.js';
