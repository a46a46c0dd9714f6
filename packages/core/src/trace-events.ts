/** Members of every event. The publisher fills in `result` or `error` when the operation has ended. */
interface TracedOperation {
  /** Result of the operation; present after its end, unless it failed. */
  result?: unknown;
  /** Error of the operation; present after it failed. */
  error?: unknown;
  /**
   * Runs the operation. A subscriber of the start sets it to make a context active during the operation, and calls a function that
   * is there already: `event.run = (body) => context.with(active, body)`.
   */
  run?: <Result>(body: () => Result) => Result;
}

/** A tool call, in any caller. Channel `quiver:tool`. `result` is the validated output or a `ToolFailure`. */
export interface ToolTraceEvent extends TracedOperation {
  readonly type: 'tool';
  /** Name that the caller uses for the tool. */
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
}

/** A request or notification of MCP. Channels `quiver:mcp.client` and `quiver:mcp.server`. */
export interface McpTraceEvent extends TracedOperation {
  readonly type: 'mcp';
  /** Whether an `MCPClient` or an `MCPServer` publishes the event. */
  readonly side: 'client' | 'server';
  /** Whether this side sends the message or receives it. Both sides send requests. */
  readonly direction: 'sent' | 'received';
  readonly method: string;
  /** Whether the protocol has the method: a peer can make up any number of others. */
  readonly isKnownMethod: boolean;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  /** Tool, prompt or resource that the parameters name. The name is absent where the parameters are invalid. */
  readonly target?: { readonly kind: 'tool' | 'prompt' | 'resource'; readonly name: string | undefined } | undefined;
  /** Absent in notifications. A sender knows it after the start; with input rounds, it is the id of the last message. */
  requestId?: string | number | undefined;
  /** Absent before the handshake. */
  protocolVersion?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly transport: 'stdio' | 'http' | 'sse' | 'in-process' | 'custom';
  /** Host of the server, in events of a client over HTTP. */
  readonly serverAddress?: string | undefined;
  readonly serverPort?: number | undefined;
  /** IP address of the client, in events of a server over HTTP. */
  readonly clientAddress?: string | undefined;
  /** Id of the tool call that sends the request. */
  readonly toolCallId?: string | undefined;
  /** Whether the result of the received tool call has `isError: true`. */
  isToolError?: boolean | undefined;
  /** Whether the received request was canceled, so that it has no response. */
  isCanceled?: boolean | undefined;
  /** Members that a subscriber of the start adds to `_meta` of the sent message. The members of the caller take precedence. */
  meta?: Record<string, string> | undefined;
}

/** A session or connection of MCP, from its start to its end. Channels `quiver:mcp.client` and `quiver:mcp.server`. */
export interface McpSessionTraceEvent extends TracedOperation {
  readonly type: 'mcp.session';
  readonly side: 'client' | 'server';
  protocolVersion?: string | undefined;
  readonly transport: McpTraceEvent['transport'];
  /** Host of the server, in events of a client over HTTP. */
  readonly serverAddress?: string | undefined;
  readonly serverPort?: number | undefined;
}

/** A query by a query tool, or the reranking of results. Channel `quiver:retrieval`. */
export interface RetrievalTraceEvent extends TracedOperation {
  readonly type: 'retrieval';
  readonly operation: 'query' | 'rerank';
  /** Absent in reranking. */
  readonly indexName?: string | undefined;
  /** Name of the query tool's kind: `VectorQuery`, `VectorFilter` or `GraphRAG`. */
  readonly kind?: string | undefined;
  readonly queryText: string;
  /** Number of requested results. */
  readonly topK: number;
  /** Number of results that are reranked. */
  readonly candidates?: number | undefined;
  /** Results, best first. */
  documents?: readonly { readonly id: string; readonly score: number; readonly document?: string }[] | undefined;
}

/** A call of an embedder. Channel `quiver:embedding`. */
export interface EmbeddingTraceEvent extends TracedOperation {
  readonly type: 'embedding';
  /** Id of the embedder, such as `openai/text-embedding-3-small`. */
  readonly model: string;
  readonly texts: readonly string[];
  /** Tokens of this call, if the model reported them. */
  inputTokens?: number | undefined;
  /** Length of the vectors. */
  dimension?: number | undefined;
}

/** A run of `ingest()`. Channel `quiver:ingest`. `result` is its report. */
export interface IngestTraceEvent extends TracedOperation {
  readonly type: 'ingest';
  readonly indexName: string;
}

/** Event of each trace channel. */
export interface TraceEvents {
  'quiver:tool': ToolTraceEvent;
  'quiver:mcp.client': McpTraceEvent | McpSessionTraceEvent;
  'quiver:mcp.server': McpTraceEvent | McpSessionTraceEvent;
  'quiver:retrieval': RetrievalTraceEvent;
  'quiver:embedding': EmbeddingTraceEvent;
  'quiver:ingest': IngestTraceEvent;
}

/** Event of any trace channel; `type` tells them apart. */
export type TraceEvent = TraceEvents[keyof TraceEvents];
