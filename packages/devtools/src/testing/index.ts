/**
 * `@quiver/devtools/testing`: a test kit for servers. `@quiver/devtools/testing/vitest` has the parts that need Vitest.
 *
 * @module
 */
export { createCassette, type Cassette, type CassetteOptions } from './cassette.js';
export { conformance, type ConformanceOptions, type ConformanceReport } from './conformance.js';
export { describeEras } from './describe-eras.js';
export {
  evaluateTools,
  type EvaluatedCall,
  type EvaluateToolsOptions,
  type ToolCase,
  type ToolCaseReport,
  type ToolEvaluation,
  type ToolRun,
} from './evaluate-tools.js';
export { lintTools, type LintToolsOptions, type ToolProblem } from './lint-tools.js';
export type { LintProvider, LintRule } from './lint-rules.js';
export { expectMcp, type McpAssertions, type TextPattern } from './matchers.js';
export {
  createTestClient,
  type AskedKind,
  type AskedRequest,
  type TestAnswers,
  type TestCall,
  type TestCallOptions,
  type TestClient,
  type TestClientOptions,
  type TestProtocol,
} from './test-client.js';
