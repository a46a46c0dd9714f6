import { QuiverError } from '@quiver/core';
import type { EmbeddingModel } from '@quiver/core/llm';
import type { Embedder } from './embedder.js';
import { createModelEmbedder, type ModelEmbedderOptions } from './model-embedder.js';

/** An {@link Embedder}, an embedding model of AI SDK 5, 6 or 7, or a string such as `openai/text-embedding-3-small`. */
export type EmbedderInput = Embedder | EmbeddingModel | string;

/**
 * Returns an embedder for a model. Texts are sent in batches of the size that the model accepts, in parallel if it allows that;
 * transient errors are retried twice; results are checked.
 *
 * The embedder throws `EMBEDDING_FAILED` with the model's error as its cause, `EMBEDDING_INVALID` for an answer that does not
 * fit, and the abort reason. A string is resolved at the first call, by `ModelRouterEmbeddingModel`.
 *
 * @throws `EMBEDDER_INVALID` for anything else
 */
export function toEmbedder(input: EmbedderInput, options: ModelEmbedderOptions = {}): Embedder {
  if (typeof input === 'string') return createModelEmbedder(requireName(input), loadOnce(input.trim()), options);
  if (isEmbedder(input)) return input;
  if (isEmbeddingModel(input)) return createModelEmbedder(modelId(input), () => input, options);
  throw new QuiverError(
    'EMBEDDER_INVALID',
    'An embedder must be an AI SDK embedding model, a string such as openai/text-embedding-3-small, or an object with id and embed().',
  );
}

function isEmbedder(value: unknown): value is Embedder {
  const { id, embed } = (value ?? {}) as Partial<Embedder>;
  return typeof id === 'string' && typeof embed === 'function';
}

function isEmbeddingModel(value: unknown): value is EmbeddingModel {
  const { provider, modelId: name, doEmbed } = (value ?? {}) as Partial<EmbeddingModel>;
  return typeof doEmbed === 'function' && typeof provider === 'string' && typeof name === 'string';
}

/** The same for a model object (`openai.embedding`) and for the string that names it. */
function modelId({ provider, modelId: name }: EmbeddingModel): string {
  return `${provider.split('.', 1)[0]}/${name}`;
}

function requireName(input: string): string {
  const name = input.trim();
  if (name === '') throw new QuiverError('EMBEDDER_INVALID', 'The name of an embedding model must not be empty.');
  return name;
}

function loadOnce(name: string): () => Promise<EmbeddingModel> {
  let model: Promise<EmbeddingModel> | undefined;
  return () => (model ??= import('@quiver/core/llm').then((llm) => new llm.ModelRouterEmbeddingModel(name)));
}
