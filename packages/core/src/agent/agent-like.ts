import type { AnyRequestContext } from '../tools/index.js';

/**
 * Any agent: of this package, of the AI SDK, or of Mastra. AI SDK agents have another call form; `askAgent` distinguishes them by
 * their `version`.
 */
export interface AgentLike {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Description of a Mastra agent. */
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
 * Sends one prompt to any agent.
 *
 * An AI SDK agent has no place for a request context in its call; bind it to its tools with `withRequestContext`.
 *
 * @returns the result of the agent's `generate`; it has a `text` for all of these kinds
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
