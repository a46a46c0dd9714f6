import { isQuiverError } from '@quiver/core';
import { validate, type Schema, type SchemaIssue } from '@quiver/core/schema';
import { executeTool, isToolFailure, toModelOutput } from '@quiver/core/tools';
import {
  encodeErrorText,
  encodeFailure,
  isContentResult,
  type ContentResult,
  type Result,
  encodeToolResult,
} from '../../content.js';
import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import type { Continuation } from '../continued-run.js';
import { describeFailure, ErrorForClients, findProtocolError } from '../failures.js';
import type { Middleware } from '../middleware/middleware.js';
import { runToolHooks } from '../middleware/run-middleware.js';
import type { ServerRequest } from '../request.js';
import type { RegisteredTool } from '../call-extension.js';
import { requireToolAccess } from './tool-access.js';
import { requestPages, urlElicitationCode } from './url-elicitation.js';
import type { Era } from '../../protocol/constants.js';

/**
 * Answers `tools/call` in both eras.
 *
 * @throws ProtocolError with HTTP status 403 when the token lacks a scope, -32602 when the call names no tool of this server or its arguments are not an object, -32042 when the
 *   tool requires that the user opens a page first; every other failure inside the tool is a result
 */
export function callTool(request: ServerRequest): Promise<Result> {
  let registered: RegisteredTool;
  try {
    registered = parseToolCall(request);
  } catch (error) {
    const result = request.resolved?.toResult(error);
    return result ? Promise.resolve(result) : Promise.reject(error as Error);
  }
  return runExtensions(request, registered);
}

/** Runs the extensions around a call, in their order, and the tool with its hooks inside. */
function runExtensions(request: ServerRequest, registered: RegisteredTool, index = 0): Promise<Result> {
  const extension = registered.extensions[index];
  if (!extension) return runTool(request, registered);
  const next = (): Promise<Result> => runExtensions(request, registered, index + 1);
  if (!extension.run) return next();
  return extension
    .run(request, registered, next)
    .catch((error: unknown) => toFailureResult(request, registered, error));
}

async function runTool(request: ServerRequest, registered: RegisteredTool): Promise<Result> {
  const { onCallTool } = request.server.middleware;
  try {
    const value = await (onCallTool.length === 0
      ? execute(request, registered)
      : executeWithHooks(onCallTool, request, registered));
    const encoded = encodeOutput(request.era, registered, value);
    return encoded instanceof Promise ? await encoded : encoded;
  } catch (error) {
    // Canceled, or abandoned for an input_required result: this result is not sent.
    if (request.isDiscarded) return encodeErrorText('Error: the call was canceled');
    return toFailureResult(request, registered, error);
  }
}

function execute(request: ServerRequest, { name, tool }: RegisteredTool): Promise<unknown> {
  // The tool receives the signal of `mcp`.
  const options = {
    toolName: name,
    toolCallId: String(request.requestId),
    requestContext: request.requestContext,
    acceptOutput: isCompleteResult,
    mcp: request.toolContext,
  };
  return request.untilAborted(() => executeTool(tool, request.arguments ?? {}, options));
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
    if (error instanceof ErrorForClients) return encodeFailure(error.message);
  } catch (reason) {
    return toFailureResult(request, registered, reason);
  }
  const { server } = request;
  const message = describeFailure(server, `Tool ${registered.name}`, error);
  const remote = server.maskErrors ? undefined : findRemoteResult(error);
  if (!remote) return encodeFailure(message);
  try {
    return await encodeOutput(request.era, registered, remote);
  } catch (reason) {
    // The schema may throw the error of a remote tool, for whose result it would run again.
    return findRemoteResult(reason) ? encodeFailure(message) : toFailureResult(request, registered, reason);
  }
}

/** Returns the error result of a remote tool that `MCPClient` threw, so that a gateway passes it on. */
function findRemoteResult(error: unknown): ContentResult | undefined {
  if (!isQuiverError(error, 'MCP_TOOL_ERROR')) return undefined;
  const { result } = error as { result?: unknown };
  if (!isContentResult(result) || result.content.length === 0) return undefined;
  const { content, structuredContent } = result;
  return { content, structuredContent, isError: true };
}

/** Returns what decides whether the run of a call continues after its response. A call that is refused has nothing to continue. */
export function continuationOfCall(request: ServerRequest): Continuation | undefined {
  const { server, name = '' } = request;
  const registered = server.tools.find(request, name);
  if (!registered) return undefined;
  for (const extension of registered.extensions) {
    const continuation = extension.continuation?.(request, registered);
    if (continuation) return isAccepted(request) ? continuation : undefined;
  }
  return undefined;
}

function isAccepted(request: ServerRequest): boolean {
  try {
    return parseToolCall(request) !== undefined;
  } catch {
    return false;
  }
}

/** A tool that the caller cannot see has the response of an unknown one, before any other check. */
function parseToolCall(request: ServerRequest): RegisteredTool {
  const { server, params, caller, resolved, arguments: args } = request;
  const name = resolved?.name ?? params?.['name'];
  if (typeof name !== 'string') throw invalidParams('tools/call needs the name of a tool.');
  const found = server.tools.find(request, name);
  const registered = resolved ? resolved.requireTool(found) : found;
  if (!registered) throw invalidParams(`Unknown tool: ${name}`);
  request.requireParamHeaders(registered.paramHeaders);
  const toolAccess = caller.http?.toolAccess;
  if (toolAccess) requireToolAccess(name, toolAccess);
  if (args !== undefined && !isObject(args)) throw invalidParams(`The arguments of ${name} must be an object.`);
  return registered;
}

/** Encodes the output of a tool, with structured content only for clients of the era that accept it. */
function encodeOutput(era: Era, registered: RegisteredTool, output: unknown): Result | Promise<Result> {
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
