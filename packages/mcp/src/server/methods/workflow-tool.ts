import { QuiverError } from '@quiver/core';
import { runWorkflow, type WorkflowLike } from '@quiver/core/agent';
import type { ToolLike } from '@quiver/core/tools';
import { isObject } from '../../protocol/json-rpc.js';
import { toJsonSafe } from '../json-safe.js';

/**
 * The tool that runs a workflow to its end, or to the point where it waits for something. Its result is a copy of the run's that
 * JSON can carry.
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
      // A run that failed is a failed call, with all that is known of it.
      return isObject(result) && result['status'] === 'failed'
        ? { content: [{ type: 'text', text: JSON.stringify(result) }], isError: true }
        : result;
    },
  };
}
