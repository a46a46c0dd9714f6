import type { ToolModelOutput, ToolModelOutputPart } from '@quiver/core/tools';
import type { ContentBlock } from '../../protocol/client-types.js';
import { getToolResult } from './tool-result.js';

/**
 * Returns what a model receives of a remote tool's result: images, audio and files as such, if there are any; otherwise the structured
 * content, or the text. Nothing is sent twice.
 */
export function toModelOutput(output: unknown): ToolModelOutput {
  const result = getToolResult(output);
  if (!result)
    return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null };
  const { content, isError } = result;
  const isPlain = content.every(({ type }) => type === 'text');
  if (isPlain && output !== result) return { type: 'json', value: output };
  if (isPlain) {
    const value = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    return { type: isError === true ? 'error-text' : 'text', value };
  }
  return { type: 'content', value: content.map(toPart) };
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
