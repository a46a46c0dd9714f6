import { anyValue, type OptionCheck, readAlias, invalidOptions } from '@quiver/core/internal';
import type { EmbedderInput, ModelOption, StoreOption, VectorStore } from '@quiver/rag';

/** Checks of the store and the model of an index. The functions that receive them check the values. */
export const storeAndModel: Readonly<Record<'vectorStore' | 'store' | 'model' | 'embedder', OptionCheck>> = {
  vectorStore: anyValue,
  store: anyValue,
  model: anyValue,
  embedder: anyValue,
};

/** Returns the store of checked options. @throws `OPTIONS_INVALID` without a store, and for two different ones */
export function readStore(name: string, options: StoreOption): VectorStore {
  const store = readAlias<StoreOption, 'vectorStore' | 'store'>(name, options, ['vectorStore', 'store']);
  if (store) return store;
  throw invalidOptions(`${name} needs 'vectorStore': a vector store, such as a LocalVector.`);
}

/** Returns the embedder of checked options. @throws `OPTIONS_INVALID` without a model, and for two different ones */
export function readModel(name: string, options: ModelOption): EmbedderInput {
  const model = readAlias<ModelOption, 'model' | 'embedder'>(name, options, ['model', 'embedder']);
  if (model !== undefined) return model;
  throw invalidOptions(`${name} needs 'model': an embedding model, a model string or an embedder.`);
}
