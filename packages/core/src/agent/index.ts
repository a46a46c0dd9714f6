export {
  Agent,
  type AgentCallOptions,
  type AgentOptions,
  type AgentPrompt,
  type AgentTools,
  type AiSdk,
} from './agent.js';
export { askAgent, type AgentLike, type AskAgentOptions } from './agent-like.js';
export type {
  AgentResult,
  AgentStep,
  AgentStream,
  AgentToolCall,
  AgentToolResult,
  AgentUsage,
} from './agent-result.js';
export {
  runWorkflow,
  type RunWorkflowOptions,
  type Workflow,
  type WorkflowLike,
  type WorkflowRunLike,
} from './workflow-like.js';
