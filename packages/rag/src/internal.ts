/**
 * Names for `@quiver/devtools` in addition to the public ones. It is unsupported: any release may change it.
 *
 * @internal
 * @module
 */
export { askCached } from './document/extract/ask-model.js';
export { checkCases, toLetters } from './evaluate/cases.js';
export { countCalls } from './evaluate/count-calls.js';
export { samplePassages } from './evaluate/make-cases.js';
export { parseMetric } from './evaluate/metrics.js';
export { parseGraphOptions } from './graph/graph-options.js';
export { toPassage } from './graph/passage.js';
export { queryGraph, readRecords, type IndexAnswer, type IndexQuery } from './graph/query-graph.js';
export { describePlace, mergeCopies, otherPlaces } from './search/merge-copies.js';
export { englishAnalysis, termsOf } from './words/analysis.js';
export { readTrustedFilter, trustedFilterChecks, type TrustedFilterOptions } from './store/scope.js';
