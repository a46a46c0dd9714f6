import type { AnyRequestContext } from '../tools/index.js';

/**
 * Any agent that can be asked: ours, an AI SDK agent, a Mastra agent. The two ways of asking are told apart by the mark that
 * AI SDK agents carry, so `askAgent` knows which one to use.
 */
export interface AgentLike {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** How Mastra's agents tell their description. */
  getDescription?(): string;
  /** `agent-v1` and the like on agents of the AI SDK, whose `generate` takes one object. */
  readonly version?: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- each library has its own parameters and results
  generate(prompt: any, options?: any): PromiseLike<any>;
}

export interface AskAgentOptions {
  requestContext?: AnyRequestContext | undefined;
  abortSignal?: AbortSignal | undefined;
}

/**
 * Asks any agent one question.
 *
 * An AI SDK agent has no place for a request context in its call; bind it to its tools with `withRequestContext`.
 *
 * @returns what the agent's `generate` returns; all of the kinds named above have a `text`
 */
export async function askAgent(agent: AgentLike, question: string, options: AskAgentOptions = {}): Promise<unknown> {
  const { requestContext, abortSignal } = options;
  if (takesOneObject(agent)) {
    return agent.generate({ prompt: question, ...(abortSignal && { abortSignal }) }) as unknown;
  }
  return agent.generate(question, {
    ...(requestContext && { requestContext }),
    ...(abortSignal && { abortSignal }),
  }) as unknown;
}

/** Agents of AI SDK 6 and 7 carry a version; that of 5 is known by `respond`, which answers a chat in the browser. */
function takesOneObject(agent: AgentLike): boolean {
  return agent.version?.startsWith('agent-') ?? typeof (agent as { respond?: unknown }).respond === 'function';
}
