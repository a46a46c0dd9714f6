export { createFilterTest, evaluateFilter, type FilterTest } from './evaluate.js';
export type { FieldPath, Filter, FilterField, FilterOrder, FilterScalar } from './filter.js';
export { bothFilters, checkFilter, filterOperators, parseFilter, toFilter, type CheckedFilter } from './parse.js';
export { createPatternBudget, type PatternBudget } from './pattern.js';
