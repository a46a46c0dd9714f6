/**
 * `@quiver/devtools/stores`: contract suites for stores of your own. They need Vitest.
 *
 * @module
 */
export { describeFilters, type DescribeFiltersOptions } from './describe-filters.js';
export { describeSharedStore, type DescribeSharedStoreOptions } from './describe-shared-store.js';
export { describeVectorStore } from './describe-vector-store.js';
