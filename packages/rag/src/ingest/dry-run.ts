import { chunksPerRequest } from '../document/extract/chunk-context.js';
import type { ExtractParams, LanguageModelInput } from '../document/extract/extract-options.js';
import type { ChunkParams } from '../document/chunking/chunking-strategy.js';
import { estimateTokens } from '../embedding/rate-limit.js';

/** Requests of a run to models. Tokens are UTF-8 bytes divided by 4. */
export interface IngestEstimate {
  /** Texts to embed, and so new vectors: one for each new chunk, part of a long chunk, and further vector. */
  texts: number;
  /** Tokens of these texts. */
  tokens: number;
  /** Requests to language models by `extract`. Requests that a cache answers are not counted. */
  modelRequests: number;
  /** Tokens of these requests, without the answers. */
  modelTokens: number;
}

/** Returns the options with language models that only count. */
export function countRequests({ extract, ...chunking }: ChunkParams, estimate: IngestEstimate): ChunkParams {
  return extract ? { ...chunking, extract: withModel(extract, countingModel(estimate)) } : chunking;
}

/** With a context, a chunk is embedded again; every other answer is a text, or is rejected. */
const answer = JSON.stringify({
  contexts: Array.from({ length: chunksPerRequest }, (_, place) => ({ chunk: place + 1, context: 'dry run' })),
});

function countingModel(estimate: IngestEstimate): LanguageModelInput {
  const model = {
    specificationVersion: 'v3',
    provider: 'quiver',
    modelId: 'dry-run',
    async doGenerate({ prompt }: { prompt: readonly { content: readonly { text: string }[] }[] }) {
      estimate.modelRequests += 1;
      for (const { content } of prompt) for (const { text } of content) estimate.modelTokens += estimateTokens(text);
      return { content: [{ type: 'text', text: answer }] };
    },
  };
  return model as unknown as LanguageModelInput;
}

/** Every extractor uses the model; caches do not change, and failures are expected. */
function withModel(extract: ExtractParams, llm: LanguageModelInput): ExtractParams {
  const own = Object.entries(extract).map(([name, value]: [string, unknown]) => {
    const isExtractor = typeof value === 'object' && value !== null && 'llm' in value;
    return [name, isExtractor ? { ...value, llm } : value];
  });
  const params = { ...(Object.fromEntries(own) as ExtractParams), llm, onFailure: () => undefined };
  const { context } = params;
  if (typeof context !== 'object' || context === null || !context.cache) return params;
  const { cache } = context;
  return { ...params, context: { ...context, cache: { get: (key) => cache.get(key), set: () => undefined } } };
}
