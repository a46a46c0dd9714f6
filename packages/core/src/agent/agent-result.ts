/** One model call of a run, as far as all AI SDK majors agree. */
export interface AgentStep {
  readonly text: string;
  readonly finishReason: string;
  readonly toolCalls: readonly AgentToolCall[];
  readonly toolResults: readonly AgentToolResult[];
}

export interface AgentToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

export interface AgentToolResult extends AgentToolCall {
  readonly output: unknown;
}

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

/** Result of `agent.stream`: the members that the results of all AI SDK majors share. */
export interface AgentStream {
  readonly textStream: AsyncIterable<string>;
  readonly fullStream: AsyncIterable<{ readonly type: string }>;
  readonly text: PromiseLike<string>;
  readonly finishReason: PromiseLike<string>;
  readonly steps: PromiseLike<readonly AgentStep[]>;
  readonly toolCalls: PromiseLike<readonly AgentToolCall[]>;
  readonly toolResults: PromiseLike<readonly AgentToolResult[]>;
  readonly usage: PromiseLike<AgentUsage>;
  readonly totalUsage: PromiseLike<AgentUsage>;
  readonly response: PromiseLike<{ readonly messages: readonly object[] }>;
}
