import { QuiverError } from '@quiver/core';
import { runWorkflow, type WorkflowLike } from '@quiver/core/agent';
import type { ToolLike } from '@quiver/core/tools';
import { isObject } from '../../protocol/json-rpc.js';
import { toJsonSafe } from '../json-safe.js';

/**
 * Returns the tool that runs a workflow until it ends or suspends. Its result is a copy of the run's result with a JSON form.
 *
 * @throws `WORKFLOW_DESCRIPTION_MISSING`
 */
export function createWorkflowTool(key: string, workflow: WorkflowLike): ToolLike {
  const { description, inputSchema } = workflow;
  if (typeof description !== 'string' || description.trim() === '') {
    throw new QuiverError(
      'WORKFLOW_DESCRIPTION_MISSING',
      `Workflow '${workflow.name ?? workflow.id ?? key}' (key: '${key}') must have a non-empty description to be used in an MCPServer.`,
    );
  }
  return {
    description: `Run workflow '${key}'. Workflow description: ${description}`,
    ...(inputSchema !== undefined && inputSchema !== null && { inputSchema }),
    execute: async (inputData: unknown, { requestContext, abortSignal }) => {
      const result = toJsonSafe(await runWorkflow(workflow, inputData, { requestContext, abortSignal }));
      // A failed run is a failed call, with the whole result.
      return isObject(result) && result['status'] === 'failed'
        ? { content: [{ type: 'text', text: JSON.stringify(result) }], isError: true }
        : result;
    },
  };
}
