import { unchecked, checkOptions, type OptionChecks } from '../options.js';
import type { AnyRequestContext, ToolContext } from '../tools/index.js';

/**
 * Any agent: of this package, of the AI SDK, or of Mastra. AI SDK agents have a different call signature; `askAgent` distinguishes
 * them by their `version`.
 */
export interface AgentLike {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Description of a Mastra agent. */
  getDescription?(): string;
  /** Version of AI SDK agents, such as `agent-v1`. Their `generate` takes one object. */
  readonly version?: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- each library has its own parameters and results
  generate(prompt: any, options?: any): PromiseLike<any>;
}

/** Options of {@link askAgent}. */
export interface AskAgentOptions {
  /** Values of the request, which the agent passes on to its tools. */
  requestContext?: AnyRequestContext | undefined;
  /** Aborts the run. */
  abortSignal?: AbortSignal | undefined;
}

/** Checks of {@link AskAgentOptions}. A tool may pass on its context, of which only these two members are used. */
export const askAgentChecks: OptionChecks<AskAgentOptions & ToolContext> = {
  ...unchecked<AskAgentOptions & ToolContext>()('requestContext', 'abortSignal', 'toolCallId', 'toolName', 'runId'),
  ...unchecked<AskAgentOptions & ToolContext>()('mcp', 'agent', 'workflow', 'mastra'),
};

/**
 * Sends one prompt to any agent.
 *
 * Calls of an AI SDK agent do not take a request context; bind it to the tools with `withRequestContext`.
 *
 * @throws `OPTIONS_INVALID`, and the errors of the agent
 * @returns the result of the agent's `generate`; it has a `text` for all of these kinds
 * @example
 * const { text } = (await askAgent(mastraAgent, 'How warm is Oslo?')) as { text: string };
 */
export async function askAgent(agent: AgentLike, question: string, options: AskAgentOptions = {}): Promise<unknown> {
  checkOptions<AskAgentOptions>('askAgent', options, askAgentChecks);
  const { requestContext, abortSignal } = options;
  const settings = abortSignal && { abortSignal };
  if (takesOneObject(agent)) return agent.generate({ prompt: question, ...settings }) as unknown;
  return agent.generate(question, { ...settings, ...(requestContext && { requestContext }) }) as unknown;
}

/** Returns whether an agent is an AI SDK agent. Agents of AI SDK 6 and 7 have a `version`; those of AI SDK 5 have `respond`. */
function takesOneObject(agent: AgentLike): boolean {
  return agent.version?.startsWith('agent-') ?? typeof (agent as { respond?: unknown }).respond === 'function';
}
