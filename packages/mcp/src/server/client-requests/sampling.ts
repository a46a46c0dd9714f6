import type { SampleRequest, SampleResult, SamplingContent } from '@quiver/core/tools';
import { isObject } from '../../protocol/json-rpc.js';
import type { ClientRequest } from './client-request.js';

/** Returns the request for a completion by the model of the client. */
export function samplingRequest(request: SampleRequest): ClientRequest<SampleResult> {
  const usesTools = request.tools !== undefined || request.toolChoice !== undefined;
  return {
    method: 'sampling/createMessage',
    params: request,
    requires: { sampling: usesTools ? { tools: {} } : {} },
    subject: 'SAMPLING',
    what: "a completion by the client's model",
    parse: parseSampleResult,
  };
}

function parseSampleResult(result: unknown): SampleResult | undefined {
  if (!isObject(result) || typeof result['model'] !== 'string') return undefined;
  const { role, content, model } = result;
  if (role !== 'user' && role !== 'assistant') return undefined;
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  if (!parts.every(isContent)) return undefined;
  const text = parts.map((part) => (part.type === 'text' ? String(part['text'] ?? '') : '')).join('');
  return { ...result, role, content: content as SamplingContent | SamplingContent[], model, text };
}

function isContent(part: unknown): part is SamplingContent {
  return isObject(part) && typeof part['type'] === 'string';
}
