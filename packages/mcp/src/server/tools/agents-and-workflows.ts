import { QuiverError } from '@quiver/core';
import type { AgentLike, WorkflowLike } from '@quiver/core/agent';
import type { Schema } from '@quiver/core/schema';
import { createTool, type AnyRequestContext, type McpExtra, type Tool } from '@quiver/core/tools';
import { isObject } from '../../protocol/json-rpc.js';
import { toJsonSafe } from './json-safe.js';

const agentInput = {
  type: 'object',
  properties: { message: { type: 'string', description: 'The question or task for the agent.' } },
  required: ['message'],
} as const;

/**
 * Returns the tool that calls an agent. Its result is a copy of the agent's result with a JSON form, and always has `text`.
 *
 * @throws `AGENT_DESCRIPTION_MISSING`: clients decide by the description when to call the tool
 */
export function createAgentTool(key: string, agent: AgentLike): Tool {
  const name = agent.name ?? agent.id ?? key;
  const description = requireDescription('Agent', name, key, agent.description ?? agent.getDescription?.());
  return createTool({
    id: `ask_${key}`,
    description: `Ask agent '${name}' a question. Agent description: ${description}`,
    inputSchema: agentInput,
    execute: async ({ message }, { requestContext, abortSignal, mcp: { extra } }) => {
      shareExtra(requestContext, extra);
      const { askAgent } = await import('@quiver/core/agent');
      return toAnswer(await askAgent(agent, message as string, { requestContext, abortSignal }));
    },
    toModelOutput: ({ text }) => ({ type: 'text', value: text }),
  });
}

/** The agent's tools receive the caller as `mcp.extra`, and its parts under their own names unless those are taken. */
function shareExtra(requestContext: AnyRequestContext, extra: McpExtra | undefined): void {
  if (!extra) return;
  const parts = { authInfo: extra.authInfo, sessionId: extra.sessionId, requestId: extra.requestId };
  for (const [key, value] of Object.entries({ 'mcp.extra': extra, ...parts })) {
    if (value !== undefined && !requestContext.has(key)) requestContext.set(key, value);
  }
}

function toAnswer(result: unknown): { text: string } {
  if (typeof result !== 'object' || result === null) return { text: typeof result === 'string' ? result : '' };
  const copy = toJsonSafe(result) as Record<string, unknown>;
  const { text, object } = copy;
  if (typeof text === 'string') return copy as { text: string };
  return { ...copy, text: object === undefined ? '' : JSON.stringify(object) };
}

/**
 * Returns the tool that runs a workflow until it ends or suspends. Its result is a copy of the run's result with a JSON form.
 *
 * @throws `WORKFLOW_DESCRIPTION_MISSING`
 */
export function createWorkflowTool(key: string, workflow: WorkflowLike): Tool {
  const inputSchema = (workflow.inputSchema ?? undefined) as Schema | undefined;
  const description = requireDescription('Workflow', workflow.name ?? workflow.id ?? key, key, workflow.description);
  return createTool({
    id: `run_${key}`,
    description: `Run workflow '${key}'. Workflow description: ${description}`,
    ...(inputSchema && { inputSchema }),
    execute: async (inputData, { requestContext, abortSignal }) => {
      const { runWorkflow } = await import('@quiver/core/agent');
      const result = toJsonSafe(await runWorkflow(workflow, inputData, { requestContext, abortSignal }));
      // A failed run is a failed call, with the whole result.
      return isObject(result) && result['status'] === 'failed'
        ? { content: [{ type: 'text', text: JSON.stringify(result) }], isError: true }
        : result;
    },
  });
}

function requireDescription(kind: 'Agent' | 'Workflow', name: string, key: string, description: unknown): string {
  if (typeof description === 'string' && description.trim() !== '') return description;
  throw new QuiverError(
    `${kind.toUpperCase() as Uppercase<typeof kind>}_DESCRIPTION_MISSING`,
    `${kind} '${name}' (key: '${key}') must have a non-empty description to be used in an MCPServer.`,
  );
}
