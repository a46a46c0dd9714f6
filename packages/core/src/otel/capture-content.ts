import type { Attributes } from '@opentelemetry/api';
import type { TraceEvent } from '../trace-events.js';

/** Longest captured text, in characters. */
const maxLength = 32_768;

/** Returns the arguments of tools and the texts of queries. */
export function captureInput(event: TraceEvent): Attributes {
  if (event.type === 'tool') return { 'gen_ai.tool.call.arguments': toText(event.input) };
  if (event.type === 'retrieval') return { 'gen_ai.retrieval.query.text': toText(event.queryText) };
  if (event.type === 'mcp' && event.target?.kind === 'tool')
    return { 'gen_ai.tool.call.arguments': toText(event.params?.['arguments']) };
  return {};
}

/** Returns the results of tools and the documents that a query found. */
export function captureOutput(event: TraceEvent): Attributes {
  if ('error' in event) return {};
  if (event.type === 'tool') return { 'gen_ai.tool.call.result': toText(event.result) };
  if (event.type === 'retrieval') return { 'gen_ai.retrieval.documents': toText(event.documents) };
  // The result of a received call is that of its tool.
  if (event.type === 'mcp' && event.target?.kind === 'tool' && event.direction === 'sent')
    return { 'gen_ai.tool.call.result': toText(event.result) };
  return {};
}

/** Values without a JSON form are left out. */
function toText(value: unknown): string | undefined {
  try {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) as string | undefined);
    return text?.slice(0, maxLength);
  } catch {
    return undefined;
  }
}
