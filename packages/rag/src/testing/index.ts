export { describeFilters, type DescribeFiltersOptions } from './describe-filters.js';
export { describeVectorStore } from './describe-vector-store.js';
