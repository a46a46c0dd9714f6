/**
 * `@quiver/devtools/stores`: contract suites for your own stores. They need Vitest.
 *
 * @module
 */
export { describeFilters, type DescribeFiltersOptions } from './describe-filters.js';
export { describeSharedStore, type DescribeSharedStoreOptions } from './describe-shared-store.js';
export { describeVectorStore } from './describe-vector-store.js';
