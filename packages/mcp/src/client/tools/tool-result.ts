import type { ToolModelOutput, ToolModelOutputPart } from '@quiver/core/tools';
import { isContentResult, toErrorText } from '../../content.js';
import type { CallToolResult, ContentBlock } from '../../protocol/types.js';

/** Whole results by structured output. An entry lives as long as its key. */
const results = new WeakMap<object, CallToolResult>();

/** Returns the structured content of a result, which {@link getToolResult} finds the result by; otherwise the whole result. */
export function toToolOutput(result: CallToolResult): unknown {
  const { structuredContent, isError } = result;
  if (structuredContent === undefined || isError === true) return result;
  if (typeof structuredContent === 'object' && structuredContent !== null) results.set(structuredContent, result);
  return structuredContent;
}

/**
 * Returns the whole result of a remote tool, with `content` and `_meta`, for a value that its `execute` returned.
 *
 * @returns `undefined` for other values, for copies, and for structured content that is not an object
 * @example
 * const output = await tools.github_search.execute({ query });
 * getToolResult(output)?._meta;
 */
export function getToolResult(output: unknown): CallToolResult | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const known = results.get(output);
  if (known) return known;
  return isContentResult(output) ? (output as unknown as CallToolResult) : undefined;
}

/**
 * Returns what a model receives of a remote tool's result: with images, audio or files all of it; otherwise the text that the server marks as
 * written for models, the structured content, or the text. Nothing is sent twice.
 */
export function toModelOutput(output: unknown): ToolModelOutput {
  const result = getToolResult(output);
  if (!result)
    return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null };
  const { content, isError, structuredContent } = result;
  const isPlain = content.every(({ type }) => type === 'text');
  if (isPlain && output !== result) {
    const forModels = content.flatMap((block) => (isForModels(block) ? [block.text] : []));
    return forModels.length > 0 ? { type: 'text', value: forModels.join('\n') } : { type: 'json', value: output };
  }
  if (isPlain && isError === true) return { type: 'error-text', value: toErrorText(result) };
  if (isPlain) {
    const value = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    return { type: 'text', value };
  }
  const parts = content.map(toPart);
  const structured = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  // Servers should repeat the structured content as text.
  if (structured !== undefined && !content.some((block) => block.type === 'text' && isJsonOf(block.text, structured)))
    parts.push({ type: 'text', text: structured });
  return { type: 'content', value: parts };
}

/** @see [MCP, Annotations](https://modelcontextprotocol.io/specification/2025-11-25/server/resources#annotations) */
function isForModels(block: ContentBlock): block is ContentBlock & { type: 'text' } {
  const { audience } = block.annotations ?? {};
  return block.type === 'text' && audience?.length === 1 && audience[0] === 'assistant';
}

/** Returns whether a text is a value as JSON, with any white space. */
function isJsonOf(text: string, value: string): boolean {
  try {
    return text === value || JSON.stringify(JSON.parse(text)) === value;
  } catch {
    return false;
  }
}

function toPart(block: ContentBlock): ToolModelOutputPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image-data', data: block.data, mediaType: block.mimeType };
    case 'audio':
      return { type: 'file-data', data: block.data, mediaType: block.mimeType };
    case 'resource_link':
      return { type: 'text', text: `${block.title ?? block.name}: ${block.uri}` };
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return { type: 'text', text: resource.text };
      const mediaType = resource.mimeType ?? 'application/octet-stream';
      return mediaType.startsWith('image/')
        ? { type: 'image-data', data: resource.blob, mediaType }
        : { type: 'file-data', data: resource.blob, mediaType };
    }
    default:
      return { type: 'text', text: JSON.stringify(block) };
  }
}
