export {
  Agent,
  type AgentCallOptions,
  type AgentInstructions,
  type AgentOptions,
  type AgentPrompt,
  type AgentResult,
  type AgentStep,
  type AgentStream,
  type AgentToolCall,
  type AgentToolResult,
  type AgentTools,
  type AgentUsage,
  type AiSdk,
} from './agent.js';
export { askAgent, type AgentLike, type AskAgentOptions } from './agent-like.js';
export {
  runWorkflow,
  type RunWorkflowOptions,
  type Workflow,
  type WorkflowLike,
  type WorkflowRunLike,
} from './workflow-like.js';
