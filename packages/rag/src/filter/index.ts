export { createFilterTest, evaluateFilter, type FilterTest } from './evaluate.js';
export type { FieldPath, Filter, FilterField, FilterOrder, FilterScalar } from './filter.js';
export { comparisonsOf, filterOperators, logicalOperators } from './operators.js';
export { bothFilters, checkFilter, parseFilter, toFilter, type CheckedFilter } from './parse.js';
export { type PatternBudget, patternSteps } from './pattern.js';
