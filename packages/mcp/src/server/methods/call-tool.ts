import { isQuiverError, QuiverError } from '@quiver/core';
import { validate, type Schema, type SchemaIssue } from '@quiver/core/schema';
import { executeTool, isToolFailure, toModelOutput, type ElicitUrlRequest } from '@quiver/core/tools';
import {
  encodeErrorText,
  encodeFailure,
  encodeToolResult,
  isContentResult,
  type ContentResult,
  type Result,
} from '../../content.js';
import { errorCodes, REQUIRED_PAGES_VERSION, type Era } from '../../protocol/constants.js';
import { isObject, type JsonRpcRequest } from '../../protocol/json-rpc.js';
import { invalidParams, ProtocolError, refused } from '../../protocol/protocol-error.js';
import type { ToolAccessCheck } from '../../tool-access.js';
import { elicitationRequest, missingCapabilities } from '../client/client-requests.js';
import { describeFailure, findProtocolError } from '../failures.js';
import type { Middleware } from '../middleware/middleware.js';
import { runToolHooks } from '../middleware/run-middleware.js';
import type { ServerRequest } from '../request.js';
import type { SizeLimit } from '../../result-limit/size-limit.js';
import { limitResult } from './limit-result.js';
import type { TaskOptions } from '../tools/task-options.js';
import type { RegisteredTool } from '../tools/tool-registry.js';
import { requireTasks, supportsTasks } from './tasks.js';

/**
 * Answers `tools/call` in both eras.
 *
 * @throws ProtocolError with HTTP status 403 when the token lacks a scope, -32602 when the call names no tool of this server or its arguments are not an object, -32042 when the
 *   tool requires that the user opens a page first; every other failure inside the tool is a result
 */
export function callTool(request: ServerRequest): Promise<Result> {
  return request.calledBy ? callForSearch(request) : callFound(request);
}

/** Answers a call by the search, whose model can correct it. */
async function callForSearch(request: ServerRequest): Promise<Result> {
  try {
    return await callFound(request);
  } catch (error) {
    if (isQuiverError(error)) return encodeFailure(error.message);
    throw error;
  }
}

function callFound(request: ServerRequest): Promise<Result> {
  const registered = parseToolCall(request);
  if (registered.task?.mode === 'required') requireTasks(request);
  const { resultLimit } = registered;
  return resultLimit ? runLimited(request, registered, resultLimit) : runTool(request, registered);
}

async function runLimited(request: ServerRequest, registered: RegisteredTool, limit: SizeLimit): Promise<Result> {
  try {
    return await limitResult(request, registered, await runTool(request, registered), limit);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return toFailureResult(request, registered, error);
  }
}

async function runTool(request: ServerRequest, registered: RegisteredTool): Promise<Result> {
  const { onCallTool } = request.server.middleware;
  try {
    const value = await (onCallTool.length === 0
      ? execute(request, registered)
      : executeWithHooks(onCallTool, request, registered));
    const encoded = encodeOutput(request, registered, value);
    return encoded instanceof Promise ? await encoded : encoded;
  } catch (error) {
    // Canceled, or abandoned for an input_required result: this result is not sent.
    if (request.isDiscarded) return encodeErrorText('Error: the call was canceled');
    return toFailureResult(request, registered, error);
  }
}

/** Encodes the output of a tool, with structured content only for clients of the era that accept it. */
function encodeOutput({ era }: ServerRequest, registered: RegisteredTool, output: unknown): Result | Promise<Result> {
  const isStructured = registered.structured[era];
  if (isContentResult(output))
    return output.structuredContent === undefined
      ? encodeToolResult(output, isStructured)
      : encodeStructuredResult(era, registered, output);
  if (isStructured && !isToolFailure(output)) return encodeWithModelText(registered, output);
  return encodeToolResult(output, isStructured);
}

/**
 * Encodes a tool's own result. Leaves out structured content that clients of the era reject, and structured content of an error that
 * violates the output schema: clients would report the violation instead of the error.
 */
async function encodeStructuredResult(era: Era, registered: RegisteredTool, output: ContentResult): Promise<Result> {
  const { content, structuredContent, isError, _meta } = output;
  const isStructured = registered.structured[era];
  const isSupported = era === 'modern' || isObject(structuredContent);
  const problem = isSupported ? await checkStructuredContent(registered, structuredContent) : undefined;
  if (isSupported && problem === undefined) return encodeToolResult(output, isStructured);
  if (problem !== undefined && isError !== true) return encodeErrorText(problem);
  return encodeToolResult({ content, isError, _meta }, isStructured);
}

/**
 * Encodes an output with the text that the tool makes of it for models: `content` is for models, and `structuredContent` for programs.
 * Without structured content the output itself is the content, since nothing else would carry it.
 */
async function encodeWithModelText({ tool }: RegisteredTool, output: unknown): Promise<Result> {
  const shown = await toModelOutput(tool, output);
  if (shown?.type !== 'text') return encodeToolResult(output, true);
  const content = [{ type: 'text', text: shown.value, annotations: { audience: ['assistant'] } }];
  return encodeToolResult({ content, structuredContent: output }, true);
}

function execute(request: ServerRequest, { name, tool }: RegisteredTool): Promise<unknown> {
  return executeTool(tool, request.arguments ?? {}, {
    toolName: name,
    toolCallId: String(request.requestId),
    requestContext: request.requestContext,
    abortSignal: request.signal,
    acceptOutput: isCompleteResult,
    mcp: request.toolContext,
  });
}

/** Runs the hooks of middleware around a tool. A value that does not come from the tool is validated as its output. */
async function executeWithHooks(
  chain: readonly Middleware[],
  request: ServerRequest,
  registered: RegisteredTool,
): Promise<unknown> {
  request.arguments ??= {};
  const value = await runToolHooks(
    chain,
    request,
    async () => (request.checkedOutput = await execute(request, registered)),
  );
  const { name, tool } = registered;
  if (!tool.outputSchema || value === request.checkedOutput) return value;
  if (isToolFailure(value) || isCompleteResult(value)) return value;
  const result = await validate(tool.outputSchema as Schema, value);
  if (result.ok) return result.value;
  const failure = `Error: A middleware returned invalid output for tool ${name}:\n${describeIssues(result.issues)}`;
  return { content: [{ type: 'text', text: failure }], isError: true };
}

async function toFailureResult(request: ServerRequest, registered: RegisteredTool, error: unknown): Promise<Result> {
  // The tool did not handle that a modern client lacks a capability.
  const protocolError = findProtocolError(error);
  if (protocolError) throw protocolError;
  try {
    if (isQuiverError(error, urlElicitationCode)) return await requestPages(request, error);
    // Never masked: its message is for clients.
    if (isQuiverError(error, 'TOOL_TIME_LIMIT_EXCEEDED')) return encodeFailure(error.message);
  } catch (reason) {
    return toFailureResult(request, registered, reason);
  }
  const { server } = request;
  const message = describeFailure(server, `Tool ${registered.name}`, error);
  const remote = server.maskErrors ? undefined : findRemoteResult(error);
  return remote ? encodeOutput(request, registered, remote) : encodeFailure(message);
}

/** Returns the error result of a remote tool that `MCPClient` threw, so that a gateway passes it on. */
function findRemoteResult(error: unknown): ContentResult | undefined {
  if (!isQuiverError(error, 'MCP_TOOL_ERROR')) return undefined;
  const { result } = error as { result?: unknown };
  if (!isContentResult(result) || result.content.length === 0) return undefined;
  const { content, structuredContent } = result;
  return { content, structuredContent, isError: true };
}

/** Clients require structured content where an output schema is declared, except in errors. */
function isCompleteResult(output: unknown): boolean {
  return isContentResult(output) && (output.isError === true || output.structuredContent !== undefined);
}

/** Returns why the structured content of a tool's own result violates the output schema, or `undefined`. */
async function checkStructuredContent(
  { name, tool }: RegisteredTool,
  structuredContent: unknown,
): Promise<string | undefined> {
  if (!tool.outputSchema) return undefined;
  const result = await validate(tool.outputSchema as Schema, structuredContent);
  if (result.ok) return undefined;
  return `Error: Invalid structured content for tool ${name}:\n${describeIssues(result.issues)}`;
}

function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.map(({ path, message }) => `- ${path.join('.') || 'root'}: ${message}`).join('\n');
}

/** Returns the options of the task that a tool call may become. A call that is refused becomes none. */
export function taskOptionsOfCall(request: ServerRequest): TaskOptions | undefined {
  const { server, params } = request;
  if (!server.tools.find(request, String(params?.['name']))?.task || !supportsTasks(request)) return undefined;
  try {
    return parseToolCall(request).task;
  } catch {
    return undefined;
  }
}

/** A tool that the caller cannot see has the response of an unknown one, before any other check. */
function parseToolCall(request: ServerRequest): RegisteredTool {
  const { server, params, toolAccess, calledBy, arguments: args } = request;
  const name = params?.['name'];
  if (typeof name !== 'string') throw invalidParams('tools/call needs the name of a tool.');
  const found = server.tools.find(request, name);
  const { search } = server.tools;
  const registered = calledBy && search ? search.require(found, name, calledBy) : found;
  if (!registered) throw invalidParams(`Unknown tool: ${name}`);
  // The client repeats arguments of the tool that it has called.
  if (!calledBy) request.requireParamHeaders(registered.paramHeaders);
  if (toolAccess) requireToolAccess(name, toolAccess);
  if (args !== undefined && !isObject(args)) throw invalidParams(`The arguments of ${name} must be an object.`);
  return registered;
}

/**
 * Refuses a tool call whose token lacks a scope.
 *
 * @throws ProtocolError with HTTP status 403 and the challenge of the authorization middleware
 * @see [RFC 6750, section 3.1 – Error Codes](https://www.rfc-editor.org/rfc/rfc6750.html#section-3.1)
 */
function requireToolAccess(toolName: string, check: ToolAccessCheck): void {
  const refusal = check(toolName);
  if (!refusal) return;
  const { status, headers, body } = refusal;
  throw refused(status, body.error_description, { headers, body });
}

/**
 * Refuses messages with such a call before any of them runs: responses of a batch, and of HTTP+SSE, cannot carry a status each.
 *
 * @param request - any request of the caller
 * @throws ProtocolError with HTTP status 403
 */
export function requireToolAccessOfAll(messages: readonly unknown[], request: ServerRequest): void {
  const { toolAccess, server } = request;
  if (!toolAccess) return;
  for (const message of messages) {
    if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params'])) continue;
    // The cast: its method and params have been checked.
    const call = message as unknown as JsonRpcRequest;
    const name = (server.tools.search?.unwrap(call)?.message ?? call).params?.['name'];
    if (typeof name === 'string' && server.tools.find(request, name)) requireToolAccess(name, toolAccess);
  }
}

const urlElicitationCode = 'URL_ELICITATION_REQUIRED';

/**
 * Returns the error that a tool throws when the user must open pages first, to sign in or to consent. The client shows the pages and
 * calls again. To wait for the user within the call, use `context.mcp.elicitation.sendRequest()` instead.
 *
 * @param message - reason, for clients that cannot show pages
 * @example
 * if (!account) throw urlElicitationRequired('Connect your account first.', [{ message: 'Sign in to Acme', url: signInUrl }]);
 */
export function urlElicitationRequired(
  message: string,
  pages: readonly (Omit<ElicitUrlRequest, 'mode'> & { mode?: 'url' })[],
): QuiverError {
  return new QuiverError(urlElicitationCode, message, { details: { pages } });
}

/**
 * Requests that the user opens pages: with error -32042 in 2025-11-25, with an elicitation request in the modern era. A client that
 * cannot show pages receives the message as an error result.
 *
 * @throws ProtocolError -32042, with the pages
 * @throws `ELICITATION_URL_INVALID`
 * @see [MCP 2025-11-25, URL elicitation required](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error)
 */
async function requestPages(request: ServerRequest, error: QuiverError): Promise<Result> {
  const pages = error.details?.['pages'] as readonly ElicitUrlRequest[];
  const elicitations = pages.map((page) => elicitationRequest({ ...page, mode: 'url' }));
  // Settles in a round after the first: the user opened the pages, and the tool threw again.
  if (request.era === 'modern')
    await Promise.all(elicitations.map((page, index) => request.sendToClient(page, { key: `page-${index + 1}` })));
  else if (
    request.protocolVersion >= REQUIRED_PAGES_VERSION &&
    !missingCapabilities({ elicitation: { url: {} } }, request.clientCapabilities)
  ) {
    const data = { elicitations: elicitations.map(({ params, legacyParams }) => ({ ...params, ...legacyParams })) };
    throw new ProtocolError(errorCodes.urlElicitationRequired, error.message, { data });
  }
  return encodeFailure(error.message);
}
