import { QuiverError } from '@quiver/core';
import { resolveLanguageModel, type LanguageModel } from '@quiver/core/llm';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
} from '../../protocol/client-types.js';

/** What a server wants a language model to do. */
export type SamplingRequest = CreateMessageRequestParams & {
  /** Which server asks. */
  serverName: string;
};

export type SamplingResult = CreateMessageResult | CreateMessageResultWithTools;

export type SamplingHandler = (
  request: SamplingRequest,
  options: { signal: AbortSignal },
) => SamplingResult | PromiseLike<SamplingResult>;

/** A model of the AI SDK (5, 6 or 7), or its name, with limits for what servers may ask of it. */
export interface SamplingModel {
  model: LanguageModel | string;
  /** The most tokens one answer may have. Default: what the server asks for. */
  maxTokens?: number;
  /** Looks at each request before the model does; `false` refuses it. */
  approve?: (request: SamplingRequest) => boolean | PromiseLike<boolean>;
}

export type SamplingOptions = SamplingHandler | SamplingModel;

/** The handler for sampling: the user's, or one that asks their model. */
export function toSamplingHandler(options: SamplingOptions): SamplingHandler {
  return typeof options === 'function' ? options : (request, { signal }) => sampleFromModel(options, request, signal);
}

/**
 * Answers with a language model. Text, images and audio go to it; tools are not offered, since the server could not run them.
 *
 * @throws `SAMPLING_REFUSED` when `approve` says no
 */
async function sampleFromModel(
  { model, maxTokens = Number.POSITIVE_INFINITY, approve }: SamplingModel,
  request: SamplingRequest,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  if (approve && !(await approve(request)))
    throw new QuiverError('SAMPLING_REFUSED', `The request of MCP server '${request.serverName}' was not approved.`);
  const languageModel = await resolveLanguageModel(model);
  // The part of the result that every specification version shares.
  const result = (await languageModel.doGenerate({
    prompt: toPrompt(request),
    maxOutputTokens: Math.min(request.maxTokens, maxTokens),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.stopSequences && { stopSequences: request.stopSequences }),
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
  throw new QuiverError(
    'SAMPLING_CONTENT_UNSUPPORTED',
    `Content of type '${block.type}' cannot be given to the model.`,
  );
}
