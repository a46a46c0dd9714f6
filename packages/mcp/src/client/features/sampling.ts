import { QuiverError } from '@quiver/core';
import { defined } from '../../defined.js';
import type { CreateMessageResult } from '../../protocol/types.js';
import type { SamplingModel, SamplingRequest } from '../config/handlers.js';

/**
 * Responds to a sampling request with a language model, which receives text, images and audio, but no tools.
 *
 * @throws `SAMPLING_REFUSED` when `approve` returns `false`
 */
export async function sampleFromModel(
  { model, maxTokens = Number.POSITIVE_INFINITY, approve }: SamplingModel,
  request: SamplingRequest,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  if (approve && !(await approve(request)))
    throw new QuiverError('SAMPLING_REFUSED', `The request of MCP server '${request.serverName}' was not approved.`);
  const { resolveLanguageModel } = await import('@quiver/core/llm');
  const languageModel = await resolveLanguageModel(model);
  // The part of the result that every specification version shares.
  const result = (await languageModel.doGenerate({
    prompt: toPrompt(request),
    maxOutputTokens: Math.min(request.maxTokens, maxTokens),
    ...defined({ temperature: request.temperature, stopSequences: request.stopSequences }),
    abortSignal: signal,
  })) as ModelAnswer;
  const text = result.content.flatMap((part) => (part.type === 'text' && part.text !== undefined ? [part.text] : []));
  const reason = typeof result.finishReason === 'string' ? result.finishReason : result.finishReason?.unified;
  return {
    model: languageModel.modelId,
    role: 'assistant',
    content: { type: 'text', text: text.join('') },
    stopReason: reason === 'length' ? 'maxTokens' : 'endTurn',
  };
}

interface ModelAnswer {
  content: { type: string; text?: string }[];
  /** Text in specification version 2, an object since. */
  finishReason?: string | { unified: string };
}

type PromptPart = { type: 'text'; text: string } | { type: 'file'; data: unknown; mediaType: string };

function toPrompt({ systemPrompt, messages }: SamplingRequest): object[] {
  const turns = messages.map(({ role, content }) => ({
    role,
    content: (Array.isArray(content) ? content : [content]).map(toPart),
  }));
  return [...(systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }]), ...turns];
}

function toPart(block: { type: string; text?: unknown; data?: unknown; mimeType?: unknown }): PromptPart {
  if (block.type === 'text') return { type: 'text', text: String(block.text) };
  if (block.type === 'image' || block.type === 'audio')
    return { type: 'file', data: block.data, mediaType: String(block.mimeType) };
  const message = `Content of type '${block.type}' cannot be given to the model.`;
  throw new QuiverError('SAMPLING_CONTENT_UNSUPPORTED', message);
}
