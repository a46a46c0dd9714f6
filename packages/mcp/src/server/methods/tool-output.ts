import { validate, type Schema, type SchemaIssue } from '@quiver/core/schema';
import { isToolFailure, toModelOutput } from '@quiver/core/tools';
import { encodeErrorText, encodeToolResult, isContentResult, type ContentResult, type Result } from '../../content.js';
import type { Era } from '../../protocol/constants.js';
import { isObject } from '../../protocol/json-rpc.js';
import type { RegisteredTool } from '../call-extension.js';

/** Encodes the output of a tool, with structured content only for clients of the era that accept it. */
export async function encodeOutput(era: Era, registered: RegisteredTool, output: unknown): Promise<Result> {
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
export function isCompleteResult(output: unknown): boolean {
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

export function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.map(({ path, message }) => `- ${path.join('.') || 'root'}: ${message}`).join('\n');
}
