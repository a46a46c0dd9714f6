import { anyValue, type OptionCheck, readAlias, invalidOptions } from '@quiver/core/internal';
import type { EmbedderInput } from './to-embedder.js';

/** Embedder that a function works with, under one of two names. */
export type ModelOption =
  | {
      /** An AI SDK embedding model, a model string, or an `Embedder`. */
      model: EmbedderInput;
      embedder?: never;
    }
  | {
      model?: never;
      /** Other name of `model`. */
      embedder: EmbedderInput;
    };

/** Checks of {@link ModelOption}. `toEmbedder` checks the model. */
export const modelChecks: { readonly model: OptionCheck; readonly embedder: OptionCheck } = {
  model: anyValue,
  embedder: anyValue,
};

/** Returns the embedder of checked options. @throws `OPTIONS_INVALID` without a model, and for two different ones */
export function readModel(name: string, options: ModelOption): EmbedderInput {
  const model = readAlias<ModelOption, 'model' | 'embedder'>(name, options, ['model', 'embedder']);
  if (model !== undefined) return model;
  throw invalidOptions(
    `${name} needs 'model': an embedding model, a model string or an embedder, such as createLexicalEmbedder().`,
  );
}
