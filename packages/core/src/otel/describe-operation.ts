import type { Attributes } from '@opentelemetry/api';
import type { EmbeddingTraceEvent, IngestTraceEvent, RetrievalTraceEvent, ToolTraceEvent } from '../trace-events.js';

/** An operation inside of the program. */
export type InnerEvent = ToolTraceEvent | RetrievalTraceEvent | EmbeddingTraceEvent | IngestTraceEvent;

/** Span of an operation. */
export interface SpanDescription {
  readonly name: string;
  readonly attributes: Attributes;
  /** Whether the operation usually calls another system. */
  readonly isClient: boolean;
}

/**
 * Returns the span of an operation. Attributes of the conventions start with `gen_ai.`, others with `quiver.`.
 *
 * @see [Semantic conventions for generative AI](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md)
 */
export function describeOperation(event: InnerEvent): SpanDescription {
  if (event.type === 'embedding') return describeEmbedding(event);
  if (event.type === 'retrieval') return describeRetrieval(event);
  if (event.type === 'ingest') {
    const { indexName } = event;
    return { name: `ingest ${indexName}`, isClient: false, attributes: { 'gen_ai.data_source.id': indexName } };
  }
  const { toolName, toolCallId } = event;
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': toolCallId,
  };
  return { name: `execute_tool ${toolName}`, isClient: false, attributes };
}

/** The id of a model names its provider: `openai/text-embedding-3-small`. Embedders of Quiver run in this process. */
function describeEmbedding({ model }: EmbeddingTraceEvent): SpanDescription {
  const slash = model.indexOf('/');
  const provider = slash > 0 ? model.slice(0, slash) : undefined;
  const name = model.slice(slash > 0 ? slash + 1 : 0);
  return {
    name: `embeddings ${name}`,
    isClient: provider !== undefined && provider !== 'quiver',
    attributes: {
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.request.model': name,
      'gen_ai.provider.name': provider,
    },
  };
}

function describeRetrieval({ operation, indexName, kind, topK, candidates }: RetrievalTraceEvent): SpanDescription {
  // There is no convention for reranking.
  if (operation === 'rerank') {
    const attributes = { 'quiver.rerank.top_k': topK, 'quiver.rerank.candidates': candidates };
    return { name: 'rerank', isClient: false, attributes };
  }
  return {
    name: `retrieval ${indexName}`,
    isClient: true,
    attributes: {
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.data_source.id': indexName,
      'gen_ai.retrieval.top_k': topK,
      'quiver.retrieval.kind': kind,
    },
  };
}

/** Returns the attributes of an operation that are known after its end. */
export function describeEnd(event: InnerEvent): Attributes {
  if (event.type === 'embedding')
    return {
      'gen_ai.usage.input_tokens': event.inputTokens,
      'gen_ai.embeddings.dimension.count': event.dimension,
      'quiver.embedding.texts': event.texts.length,
    };
  if (event.type === 'retrieval') return { 'quiver.retrieval.results': event.documents?.length };
  if (event.type === 'ingest') return describeReport(event.result);
  return {};
}

function describeReport(report: unknown): Attributes {
  const counts = (report ?? {}) as Record<string, unknown>;
  const attributes: Attributes = {};
  for (const name of ['documents', 'added', 'moved', 'unchanged', 'removed'])
    if (typeof counts[name] === 'number') attributes[`quiver.ingest.${name}`] = counts[name];
  return attributes;
}
