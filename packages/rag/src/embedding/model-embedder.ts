import { isQuiverError, QuiverError, toErrorMessage } from '@quiver/core';
import type { EmbeddingModel } from '@quiver/core/llm';
import { checkEmbeddings } from './check-embeddings.js';
import type { Embedder } from './embedder.js';
import { retry } from './retry.js';

/** Settings of the provider, passed on with every call, for example `{ openai: { dimensions: 512 } }`. */
export type EmbeddingProviderOptions = Record<string, Record<string, unknown>>;

export interface ModelEmbedderOptions {
  providerOptions?: EmbeddingProviderOptions | undefined;
}

/** Calls in flight at once, where the model allows more than one. */
const maxParallelCalls = 4;

/** An embedder over an AI SDK embedding model of any major version. */
export function createModelEmbedder(
  id: string,
  resolveModel: () => EmbeddingModel | Promise<EmbeddingModel>,
  { providerOptions }: ModelEmbedderOptions,
): Embedder {
  let dimension: number | undefined;

  async function embedBatch(
    model: EmbeddingModel,
    values: string[],
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    const call = { values, ...(signal && { abortSignal: signal }), ...(providerOptions && { providerOptions }) };
    const { embeddings } = await retry(() => model.doEmbed(call), signal);
    const vectors = checkEmbeddings(embeddings, { id, count: values.length, dimension });
    dimension ??= vectors[0]?.length;
    return vectors;
  }

  return {
    id,
    get dimension(): number | undefined {
      return dimension;
    },
    async embed(texts, { signal } = {}) {
      signal?.throwIfAborted();
      if (texts.length === 0) return [];
      try {
        const model = await resolveModel();
        const batches = split(texts, await model.maxEmbeddingsPerCall);
        const parallel = (await model.supportsParallelCalls) ? maxParallelCalls : 1;
        return (await mapInOrder(batches, parallel, (batch) => embedBatch(model, batch, signal))).flat();
      } catch (error) {
        signal?.throwIfAborted();
        if (isQuiverError(error)) throw error;
        throw new QuiverError('EMBEDDING_FAILED', `The embedding model ${id} failed: ${toErrorMessage(error)}`, {
          cause: error,
        });
      }
    },
  };
}

function split(texts: readonly string[], limit: number | undefined): string[][] {
  const size = typeof limit === 'number' && limit >= 1 ? Math.floor(limit) : texts.length;
  const batches: string[][] = [];
  for (let start = 0; start < texts.length; start += size) batches.push(texts.slice(start, start + size));
  return batches;
}

/** Runs at most `parallel` at once. After an error nothing new is begun. */
async function mapInOrder<Item, Result>(
  items: readonly Item[],
  parallel: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next++;
      try {
        results[index] = await run(items[index] as Item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, worker));
  return results;
}
