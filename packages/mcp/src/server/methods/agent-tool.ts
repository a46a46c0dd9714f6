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
 * The tool that puts a question to an agent. Its result is a copy of the agent's that JSON can carry and that always has `text`.
 *
 * @throws `AGENT_DESCRIPTION_MISSING`: without a description no client could tell when to ask
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

/** The agent's tools find the caller under `mcp.extra`, and its parts under their own names unless those are taken. */
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
