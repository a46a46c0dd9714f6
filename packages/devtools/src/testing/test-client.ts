import { QuiverError } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  objectOf,
  oneOf,
  type OptionChecks,
  valueThat,
  invalidOptions,
} from '@quiver/core/internal';
import type { ElicitResult } from '@quiver/core/tools';
import {
  type CallToolOptions,
  type CallToolResult,
  type ClientCapabilities,
  type ElicitationHandler,
  type InProcessServer,
  MCPClient,
  type MastraMCPServerDefinition,
  type ProtocolTool,
  type SamplingHandler,
  type SamplingResult,
  type ServerDefinition,
  type ServerMessageHandler,
  type ServerOptions,
} from '@quiver/mcp/client';
import { parseServerDefinition } from '@quiver/mcp/internal';
import type { MCPServer } from '@quiver/mcp/server';

/** Protocol era of a test. */
export type TestProtocol = 'legacy' | 'modern';

/** Answers to the requests of the server. A kind without an answer is not declared, as by a client that does not support it. */
export interface TestAnswers {
  /** Answer to every elicitation request, a list of answers in order, or a function. */
  elicitation?: ElicitResult | readonly ElicitResult[] | ElicitationHandler;
  /** Answer to every sampling request as text or as a result, a list of answers in order, or a function. */
  sampling?: string | SamplingResult | readonly (string | SamplingResult)[] | SamplingHandler;
  roots?: NonNullable<ServerOptions['roots']>;
}

/** Options of `createTestClient()`. */
export interface TestClientOptions {
  /** Protocol era. Default: as `MCPClient`, `legacy` for a server of this process. */
  protocol?: TestProtocol;
  /** Identity of the caller, as authentication would set it: tools receive it as `context.mcp.extra.authInfo`. */
  authInfo?: unknown;
  /** Capabilities to declare in addition to those of `answers`, for example `{ elicitation: { form: {}, url: {} } }`. */
  capabilities?: ClientCapabilities;
  /** Answers to the requests of the server. Default none: the client declares no such capability. */
  answers?: TestAnswers;
}

/** Kinds of requests of a server to its client. */
export type AskedKind = 'elicitation' | 'sampling' | 'roots';

/** Request that the server sent to the client. */
export interface AskedRequest {
  kind: AskedKind;
  params: Readonly<Record<string, unknown>>;
}

/** A finished call of a tool: it has a result or an error. */
export interface TestCall {
  readonly tool: string;
  /** Result of the protocol, also one with `isError`. */
  readonly result?: CallToolResult;
  /** Error of the protocol, of the connection, or of the client. */
  readonly error?: unknown;
  /** Requests that the server sent during the call. */
  readonly asked: readonly AskedRequest[];
}

/** Client of one server, for tests. */
export interface TestClient extends AsyncDisposable {
  /** The client, for resources, prompts and everything else. The name of the server is `server`. */
  readonly mcp: MCPClient;
  /** All requests that the server has sent. */
  readonly asked: readonly AskedRequest[];
  /** Returns the definitions of the tools. */
  tools(): Promise<ProtocolTool[]>;
  /** Calls a tool. Resolves also when the call failed. */
  call(tool: string, args?: Record<string, unknown>, options?: TestCallOptions): Promise<TestCall>;
  close(): Promise<void>;
}

/** Options of `client.call()`: those of `mcp.callTool()`. */
export type TestCallOptions = Omit<CallToolOptions, 'serverName' | 'name' | 'args'>;

const serverName = 'server';
const checks: OptionChecks<TestClientOptions> = {
  protocol: oneOf('legacy', 'modern'),
  authInfo: anyValue,
  capabilities: valueThat((value) => typeof value === 'object' && value !== null, 'an object of client capabilities'),
  answers: objectOf<TestAnswers>({ elicitation: anyValue, sampling: anyValue, roots: anyValue }),
};

const kinds: Readonly<Record<string, AskedKind>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/**
 * Connects to a server for a test: an `MCPServer` of this process without a port, or any other server definition. Speaks the real protocol.
 *
 * @param server - an `MCPServer`, or a definition as in `MCPClient`: `{ command, args }`, `{ url }`, a server of the official SDK
 * @throws `OPTIONS_INVALID`, `MCP_CLIENT_CONNECT_FAILED`
 * @example
 * await using client = await createTestClient(server, {
 *   protocol: 'modern',
 *   answers: { elicitation: { action: 'accept', content: { size: 'large' } } },
 * });
 * const { result } = await client.call('order', { dish: 'soup' });
 */
export async function createTestClient(server: ServerDefinition, options: TestClientOptions = {}): Promise<TestClient> {
  checkOptions('createTestClient', options, checks);
  const { elicitation } = options.answers ?? {};
  const asked: AskedRequest[] = [];
  const mcp = new MCPClient({
    id: crypto.randomUUID(),
    servers: { [serverName]: describeServer(server, options, asked) },
  });
  const client: TestClient = {
    mcp,
    asked,
    tools: async () => (await mcp.listToolDefinitions())[serverName] ?? [],
    call: async (tool, args = {}, callOptions = {}) => {
      const first = asked.length;
      const settled = await mcp.callTool({ ...callOptions, serverName, name: tool, args }).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
      return { tool, ...settled, asked: asked.slice(first) };
    },
    close: () => mcp.disconnect(),
    [Symbol.asyncDispose]: () => mcp.disconnect(),
  };
  if (elicitation === undefined) return client;
  const handler = toHandler('elicitation', elicitation, (answer: ElicitResult) => answer);
  await mcp.elicitation.onRequest(serverName, handler);
  return client;
}

function describeServer(
  server: ServerDefinition,
  { protocol, authInfo, capabilities, answers: { sampling, roots } = {} }: TestClientOptions,
  asked: AskedRequest[],
): MastraMCPServerDefinition {
  const { kind, definition } = parseServerDefinition(serverName, server);
  const { onMessage } = definition;
  const described: MastraMCPServerDefinition = {
    ...definition,
    ...(protocol && { protocol }),
    ...(capabilities && { capabilities: { ...definition.capabilities, ...capabilities } }),
    ...(sampling !== undefined && { sampling: toHandler('sampling', sampling, toSamplingResult) }),
    ...(roots && { roots }),
    onMessage: (message: Parameters<ServerMessageHandler>[0], info) => {
      const asking = kinds[message.method];
      if (asking) asked.push({ kind: asking, params: message.params ?? {} });
      onMessage?.(message, info);
    },
  };
  if (authInfo === undefined) return described;
  const target = kind === 'in-process' ? (definition.server as Partial<MCPServer>) : {};
  if (typeof target.fetch !== 'function')
    throw invalidOptions(
      '`authInfo` of createTestClient is for an MCPServer of this process. Send a token with `headers` of the definition instead.',
    );
  const { fetch } = target;
  const identified = { fetch: (request: Request) => fetch.call(target, request, { authInfo }) };
  // The client calls `fetch`, which the type of its servers does not name.
  return { ...described, server: identified as unknown as InProcessServer } as MastraMCPServerDefinition;
}

type Handler<Request, Result> = (request: Request, options: { signal: AbortSignal }) => Result | PromiseLike<Result>;

/** Returns a handler that gives one answer each time, or those of a list in order. */
function toHandler<Answer, Request, Result>(
  kind: AskedKind,
  answers: Answer | readonly Answer[] | Handler<Request, Result>,
  toResult: (answer: Answer) => Result,
): Handler<Request, Result> {
  if (typeof answers === 'function') return answers as Handler<Request, Result>;
  if (!Array.isArray(answers)) return () => toResult(answers as Answer);
  const left: Answer[] = [...answers];
  return () => {
    const [next] = left.splice(0, 1);
    if (next !== undefined) return toResult(next);
    throw new QuiverError(
      'TEST_ANSWER_MISSING',
      `The server sent more ${kind} requests than the ${answers.length} of \`answers.${kind}\`. Add an answer, or pass a function.`,
    );
  };
}

function toSamplingResult(answer: string | SamplingResult): SamplingResult {
  if (typeof answer !== 'string') return answer;
  return { role: 'assistant', model: 'test', content: { type: 'text', text: answer } };
}
