import { QuiverError } from '../errors.js';
import { loadModelProvider, parseModelString, type ModelProviderOptions } from './model-provider.js';

/** What an embedding model is asked, in the words of the AI SDK's provider specification. */
export interface EmbedCall {
  values: string[];
  abortSignal?: AbortSignal | undefined;
  headers?: Record<string, string | undefined> | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- JSON of the provider's own shape
  providerOptions?: Record<string, any> | undefined;
}

export interface EmbedResult {
  embeddings: number[][];
  usage?: { tokens: number } | undefined;
}

/** An AI SDK embedding model of any specification version, as far as it is called here. */
export interface EmbeddingModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: number | undefined | PromiseLike<number | undefined>;
  readonly supportsParallelCalls: boolean | PromiseLike<boolean>;
  doEmbed(call: EmbedCall): PromiseLike<EmbedResult>;
}

/**
 * An embedding model named by a string, usable wherever the AI SDK takes an embedding model. Its provider package
 * (`@ai-sdk/openai`, …) is loaded at the first call.
 *
 * @example
 * new ModelRouterEmbeddingModel('openai/text-embedding-3-small')
 * @throws `MODEL_STRING_INVALID` when the string is not of the form `provider/model`
 */
export class ModelRouterEmbeddingModel implements EmbeddingModel {
  readonly specificationVersion = 'v2' as const;
  readonly provider: string;
  readonly modelId: string;
  readonly #options: ModelProviderOptions;
  #model: Promise<EmbeddingModel> | undefined;

  constructor(model: string, options: ModelProviderOptions = {}) {
    const { provider, modelId } = parseModelString(model);
    this.provider = provider;
    this.modelId = modelId;
    this.#options = options;
  }

  get maxEmbeddingsPerCall(): PromiseLike<number | undefined> {
    return this.#resolve().then((model) => model.maxEmbeddingsPerCall);
  }

  get supportsParallelCalls(): PromiseLike<boolean> {
    return this.#resolve().then((model) => model.supportsParallelCalls);
  }

  async doEmbed(call: EmbedCall): Promise<EmbedResult> {
    const model = await this.#resolve();
    return model.doEmbed(call);
  }

  #resolve(): Promise<EmbeddingModel> {
    this.#model ??= this.#load().catch((error: unknown) => {
      this.#model = undefined;
      throw error;
    });
    return this.#model;
  }

  async #load(): Promise<EmbeddingModel> {
    const provider = await loadModelProvider(this.provider, this.#options);
    const model = provider.embeddingModel?.(this.modelId) ?? provider.textEmbeddingModel?.(this.modelId);
    if (!model) {
      throw new QuiverError('MODEL_KIND_UNSUPPORTED', `The provider '${this.provider}' offers no embedding models.`);
    }
    return model as EmbeddingModel;
  }
}
