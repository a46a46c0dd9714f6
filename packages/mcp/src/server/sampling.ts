import type { SampleRequest, SampleResult, SamplingContent } from '@quiver/core/tools';
import { isObject } from '../protocol/json-rpc.js';
import type { ClientQuestion } from './client-question.js';

/** A completion by the model of the client. */
export function samplingQuestion(request: SampleRequest): ClientQuestion<SampleResult> {
  const wantsTools = request.tools !== undefined || request.toolChoice !== undefined;
  return {
    method: 'sampling/createMessage',
    params: request,
    requires: { sampling: wantsTools ? { tools: {} } : {} },
    subject: 'SAMPLING',
    what: "an answer of the client's model",
    parse: parseSampleResult,
  };
}

function parseSampleResult(answer: unknown): SampleResult | undefined {
  if (!isObject(answer) || typeof answer['model'] !== 'string') return undefined;
  const { role, content, model } = answer;
  if (role !== 'user' && role !== 'assistant') return undefined;
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  if (!parts.every(isContent)) return undefined;
  const text = parts.map((part) => (part.type === 'text' ? String(part['text'] ?? '') : '')).join('');
  return { ...answer, role, content: content as SamplingContent | SamplingContent[], model, text };
}

function isContent(part: unknown): part is SamplingContent {
  return isObject(part) && typeof part['type'] === 'string';
}
