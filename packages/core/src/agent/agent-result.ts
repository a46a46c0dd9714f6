/** One model call of a run, as far as all AI SDK majors agree. */
export interface AgentStep {
  readonly text: string;
  readonly finishReason: string;
  readonly toolCalls: readonly AgentToolCall[];
  readonly toolResults: readonly AgentToolResult[];
}

/** A tool call that the model made. */
export interface AgentToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** A tool call with its output. */
export interface AgentToolResult extends AgentToolCall {
  readonly output: unknown;
}

/** Tokens that the provider counted; `undefined` where it reports none. */
export interface AgentUsage {
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly totalTokens: number | undefined;
}

/** Result of `agent.generate`: the members that the results of all AI SDK majors share. */
export interface AgentResult extends AgentStep {
  readonly steps: readonly AgentStep[];
  /** Usage of the last step. */
  readonly usage: AgentUsage;
  /** Usage of all steps. */
  readonly totalUsage: AgentUsage;
  /** The new messages of the conversation. */
  readonly response: { readonly messages: readonly object[] };
}

type Promised<Result> = { readonly [Key in keyof Result]: PromiseLike<Result[Key]> };

/** Result of `agent.stream`: the members that the results of all AI SDK majors share. */
export interface AgentStream extends Promised<AgentResult> {
  readonly textStream: AsyncIterable<string>;
  readonly fullStream: AsyncIterable<{ readonly type: string }>;
}
