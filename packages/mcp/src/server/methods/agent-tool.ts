import { QuiverError } from '@quiver/core';
import { askAgent, type AgentLike } from '@quiver/core/agent';
import type { AnyRequestContext, McpExtra, ToolLike } from '@quiver/core/tools';
import { toJsonSafe } from '../json-safe.js';

const inputSchema = {
  type: 'object',
  properties: { message: { type: 'string', description: 'The question or task for the agent.' } },
  required: ['message'],
} as const;

/**
 * Returns the tool that calls an agent. Its result is a copy of the agent's result with a JSON form, and always has `text`.
 *
 * @throws `AGENT_DESCRIPTION_MISSING`: clients decide by the description when to call the tool
 */
export function createAgentTool(key: string, agent: AgentLike): ToolLike {
  const name = agent.name ?? agent.id ?? key;
  const description = agent.description ?? agent.getDescription?.();
  if (typeof description !== 'string' || description.trim() === '') {
    throw new QuiverError(
      'AGENT_DESCRIPTION_MISSING',
      `Agent '${name}' (key: '${key}') must have a non-empty description to be used in an MCPServer.`,
    );
  }
  return {
    description: `Ask agent '${name}' a question. Agent description: ${description}`,
    inputSchema,
    execute: async ({ message }: { message: string }, { requestContext, abortSignal, mcp }) => {
      shareExtra(requestContext as AnyRequestContext, mcp?.extra as McpExtra | undefined);
      return toAnswer(await askAgent(agent, message, { requestContext, abortSignal }));
    },
  };
}

/** The agent's tools receive the caller as `mcp.extra`, and its parts under their own names unless those are taken. */
function shareExtra(requestContext: AnyRequestContext, extra: McpExtra | undefined): void {
  if (!extra) return;
  const parts = { authInfo: extra.authInfo, sessionId: extra.sessionId, requestId: extra.requestId };
  for (const [key, value] of Object.entries({ 'mcp.extra': extra, ...parts })) {
    if (value !== undefined && !requestContext.has(key)) requestContext.set(key, value);
  }
}

function toAnswer(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return { text: typeof result === 'string' ? result : '' };
  const copy = toJsonSafe(result) as Record<string, unknown>;
  if (typeof copy['text'] === 'string') return copy;
  const object = copy['object'];
  return { ...copy, text: object === undefined ? '' : JSON.stringify(object) };
}
