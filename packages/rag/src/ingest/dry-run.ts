import { chunksPerRequest } from '../document/extract/chunk-context.js';
import type { ExtractParams, LanguageModelInput } from '../document/extract/extract-options.js';
import type { ChunkParams } from '../document/chunking/chunking-strategy.js';
import { toEmbedder, type EmbedderInput } from '../embedding/index.js';
import { estimateTokens } from '../embedding/rate-limit.js';
import type { IndexParams, VectorStore } from '../store/vector-store.js';

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

/** The options of a run that a dry run replaces. */
interface Replaced {
  readonly vectorStore: VectorStore;
  readonly model: EmbedderInput;
  readonly chunkOptions?: ChunkParams;
}

/**
 * Returns options of the same run with a store that changes nothing and models that only count.
 *
 * @throws `OPTIONS_INVALID`
 */
export function toDryRun<Options extends Replaced>(options: Options): { options: Options; estimate: IngestEstimate } {
  const estimate: IngestEstimate = { texts: 0, tokens: 0, modelRequests: 0, modelTokens: 0 };
  const { id, dimension, maxInputTokens } = toEmbedder(options.model);
  const model: EmbedderInput = {
    id,
    maxInputTokens,
    async embed(texts) {
      estimate.texts += texts.length;
      for (const text of texts) estimate.tokens += estimateTokens(text);
      return texts.map(() => new Float32Array(dimension ?? 1).fill(1));
    },
  };
  const { extract, ...chunking } = options.chunkOptions ?? {};
  const counted = extract && { extract: withModel(extract, countingModel(estimate)) };
  return {
    options: {
      ...options,
      dryRun: false,
      model,
      vectorStore: unchanged(options.vectorStore, dimension),
      chunkOptions: { ...chunking, ...counted },
    },
    estimate,
  };
}

/**
 * The store with methods that change nothing in place of those that write.
 *
 * @param dimension - of the embedder; if it is not known before an embedding, the one of the index is not compared with it
 */
function unchanged(store: VectorStore, dimension: number | undefined): VectorStore {
  const none = async (): Promise<void> => undefined;
  const replaced: Readonly<Record<PropertyKey, unknown>> = {
    describeIndex: async (params: IndexParams) => ({
      ...(await store.describeIndex(params)),
      ...(dimension === undefined && { dimension: 1 }),
    }),
    createIndex: none,
    deleteVectors: none,
    upsert: async ({ ids = [] }: { ids?: readonly string[] }) => [...ids],
  };
  return new Proxy(store, {
    get(target, key) {
      if (Object.hasOwn(replaced, key)) return replaced[key];
      const value: unknown = Reflect.get(target, key);
      // Methods with private members need the store itself.
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** With a context, a chunk is embedded again; every other answer is a text, or is rejected. */
const answer = JSON.stringify({
  contexts: Array.from({ length: chunksPerRequest }, (_, place) => ({ chunk: place + 1, context: 'dry run' })),
});

/** A model that counts its requests. */
function countingModel(estimate: IngestEstimate): LanguageModelInput {
  const model = {
    specificationVersion: 'v3',
    provider: 'quiver',
    modelId: 'dry-run',
    async doGenerate({ prompt }: { prompt: readonly { content: string | readonly { text?: string }[] }[] }) {
      estimate.modelRequests += 1;
      for (const { content } of prompt)
        for (const { text = '' } of typeof content === 'string' ? [{ text: content }] : content)
          estimate.modelTokens += estimateTokens(text);
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
