export { createFilterTest, createPatternBudget, evaluateFilter, type PatternBudget } from './evaluate.js';
export type { FieldPath, Filter, FilterOrder, FilterScalar } from './filter.js';
export { bothFilters, checkFilter, parseFilter } from './parse.js';
