/**
 * What `@quiver/devtools` needs of this package beyond its public names. It is unsupported: any release may change it.
 *
 * @internal
 * @module
 */
export { contentHash } from './document/content-hash.js';
export { askForObject } from './document/extract/ask-model.js';
export { answerCacheValue, languageModelValue } from './document/extract/extract-options.js';
export { contextKey } from './document/metadata-keys.js';
export { modelChecks, readModel } from './embedding/model-option.js';
export { checkCases } from './evaluate/cases.js';
export { countCalls } from './evaluate/count-calls.js';
export { evaluationInvalid, evaluationSettings } from './evaluate/evaluation-error.js';
export { toLetters } from './evaluate/letters.js';
export { samplePassages } from './evaluate/make-cases.js';
export { parseMetric } from './evaluate/metrics.js';
export { graphSettings, parseGraphOptions } from './graph/graph-options.js';
export { toPassage } from './graph/passage.js';
export { queryGraph, readRecords, type IndexAnswer, type IndexQuery } from './graph/query-graph.js';
export { type IngestSettings } from './ingestion/ingest.js';
export { describePlace, mergeCopies, otherPlaces } from './passages/merge-copies.js';
export { Question } from './retrieval/question.js';
export { englishAnalysis, termsOf } from './retrieval/terms/analysis.js';
export { maximalMarginalRelevance } from './store/maximal-marginal-relevance.js';
export { defaultTopK, fusionValue, modeValue, readStore, storeChecks, topKValue } from './store/options.js';
export { textAbove } from './store/record-text.js';
export { readTrustedFilter, trustedFilterChecks, type TrustedFilterOptions } from './store/trusted-filter.js';
