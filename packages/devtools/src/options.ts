import { QuiverError } from '@quiver/core';
import { anyValue, type OptionCheck, readAlias } from '@quiver/core/internal';
import type { EmbedderInput, ModelOption, StoreOption, VectorStore } from '@quiver/rag';

/** Checks of the store and the model of an index. The functions that receive them check the values. */
export const storeAndModel: Readonly<Record<'vectorStore' | 'store' | 'model' | 'embedder', OptionCheck>> = {
  vectorStore: anyValue,
  store: anyValue,
  model: anyValue,
  embedder: anyValue,
};

/** Returns the store of checked options. @throws an error with `settings.code` without a store, and for two different ones */
export function readStore(name: string, options: StoreOption, settings: { readonly code: string }): VectorStore {
  const store = readAlias<StoreOption, 'vectorStore' | 'store'>(name, options, ['vectorStore', 'store'], settings);
  if (store) return store;
  throw new QuiverError(settings.code, `${name} needs 'vectorStore': a vector store, such as a LocalVector.`);
}

/** Returns the embedder of checked options. @throws an error with `settings.code` without a model, and for two different ones */
export function readModel(name: string, options: ModelOption, settings: { readonly code: string }): EmbedderInput {
  const model = readAlias<ModelOption, 'model' | 'embedder'>(name, options, ['model', 'embedder'], settings);
  if (model !== undefined) return model;
  throw new QuiverError(settings.code, `${name} needs 'model': an embedding model, a model string or an embedder.`);
}
