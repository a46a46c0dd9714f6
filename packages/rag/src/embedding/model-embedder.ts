import { isQuiverError, QuiverError, toErrorMessage, untilAborted } from '@quiver/core';
import type { EmbeddingModel } from '@quiver/core/llm';
import { partsOf } from '../store/store-call.js';
import { createLimit, retry, type Limit } from './call-model.js';
import { checkEmbeddings, type Embedder } from './embedder.js';

/** Settings of the provider, passed on with every call, for example `{ openai: { dimensions: 512 } }`. */
export type EmbeddingProviderOptions = Record<string, Record<string, unknown>>;

export interface ModelEmbedderOptions {
  providerOptions?: EmbeddingProviderOptions | undefined;
  /** Attempts of each request after the first. Default 2. */
  maxRetries?: number | undefined;
}

/** Requests in flight at once, of all calls of one embedder, where the model allows more than one. */
const maxParallelCalls = 4;
/**
 * In UTF-8. A token is at least one byte, so no request exceeds the 300,000 tokens that OpenAI allows. A text that is longer on
 * its own is sent alone.
 */
const maxBytesPerCall = 300_000;

/** An embedder over an AI SDK embedding model of any major version. */
export function createModelEmbedder(
  id: string,
  resolveModel: () => EmbeddingModel | Promise<EmbeddingModel>,
  { providerOptions, maxRetries }: ModelEmbedderOptions,
): Embedder {
  let dimension: number | undefined;
  // A promise, so that calls that begin together share one limit.
  let sharedLimit: Promise<Limit> | undefined;

  async function embedBatch(model: EmbeddingModel, values: string[], signal: AbortSignal): Promise<Float32Array[]> {
    const call = { values, abortSignal: signal, ...(providerOptions && { providerOptions }) };
    const { embeddings } = await retry(() => model.doEmbed(call), { maxRetries, signal });
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
        sharedLimit ??= createLimitFor(model).catch((error: unknown) => {
          sharedLimit = undefined;
          throw error;
        });
        const limit = await sharedLimit;
        const embed = (batch: string[], end: AbortSignal): Promise<Float32Array[]> => embedBatch(model, batch, end);
        return (await untilAborted(() => embedBatches(batches, { limit, embed, signal }), signal)).flat();
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

async function createLimitFor(model: EmbeddingModel): Promise<Limit> {
  return createLimit((await model.supportsParallelCalls) ? maxParallelCalls : 1);
}

/** Returns batches of as many texts as the model accepts, by number and by size. */
function split(texts: readonly string[], maxTexts: number | undefined): string[][] {
  const count = typeof maxTexts === 'number' && maxTexts >= 1 ? Math.floor(maxTexts) : texts.length;
  const encoder = new TextEncoder();
  return partsOf(texts, count, { sizeOf: (text) => encoder.encode(text).length, maxSize: maxBytesPerCall });
}

interface EmbedBatchesOptions {
  limit: Limit;
  embed: (batch: string[], signal: AbortSignal) => Promise<Float32Array[]>;
  signal: AbortSignal | undefined;
}

/** In order. After an error, no request starts, and the running ones are canceled. */
async function embedBatches(
  batches: readonly string[][],
  { limit, embed, signal }: EmbedBatchesOptions,
): Promise<Float32Array[][]> {
  const stop = new AbortController();
  const end = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const run = async (batch: string[]): Promise<Float32Array[]> => {
    end.throwIfAborted();
    return embed(batch, end);
  };
  try {
    return await Promise.all(batches.map((batch) => limit(() => run(batch))));
  } catch (error) {
    stop.abort(error);
    throw error;
  }
}
