/**
 * `@quiver/devtools/evaluate`: cases from documents, the choice of settings, and the report of an evaluation. `@quiver/rag/evaluate`
 * measures, and `@quiver/devtools/evaluate/vitest` has the matchers.
 *
 * @module
 */
export { evaluationToHtml, type EvaluationPageOptions } from './evaluation-to-html.js';
export {
  generateCases,
  type GenerateCasesOptions,
  type GeneratedCases,
  type GenerateProgress,
  type RejectionReason,
} from './generate-cases.js';
export {
  tune,
  type TuneCandidate,
  type TunedSettings,
  type TuneGrid,
  type TuneOptions,
  type TuneResult,
} from './tune.js';
