import { QuiverError } from '../errors.js';
import { explainModelError, loadModelProvider, parseModelString, type ModelProviderOptions } from './model-provider.js';

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
 * @throws `MODEL_STRING_INVALID` when the string is not of the form `provider/model`; calls reject with
 *   `MODEL_PROVIDER_UNKNOWN`, `MODEL_PACKAGE_MISSING`, `MODEL_KEY_MISSING` or `MODEL_KIND_UNSUPPORTED`
 */
export class ModelRouterEmbeddingModel implements EmbeddingModel {
  /** The version that all three AI SDK majors take. */
  readonly specificationVersion = 'v2' as const;
  readonly provider: string;
  readonly modelId: string;
  /** A plain property, not a `#private` one: AI SDK 6 and 7 call models through a proxy. */
  private readonly resolve: () => Promise<EmbeddingModel>;

  constructor(model: string, options: ModelProviderOptions = {}) {
    const { provider, modelId } = parseModelString(model);
    this.provider = provider;
    this.modelId = modelId;
    let resolved: Promise<EmbeddingModel> | undefined;
    this.resolve = () => {
      resolved ??= loadEmbeddingModel(provider, modelId, options).catch((error: unknown) => {
        resolved = undefined;
        throw error;
      });
      return resolved;
    };
  }

  get maxEmbeddingsPerCall(): PromiseLike<number | undefined> {
    return this.resolve().then((model) => model.maxEmbeddingsPerCall);
  }

  get supportsParallelCalls(): PromiseLike<boolean> {
    return this.resolve().then((model) => model.supportsParallelCalls);
  }

  async doEmbed(call: EmbedCall): Promise<EmbedResult> {
    const model = await this.resolve();
    try {
      return await model.doEmbed(call);
    } catch (error) {
      throw explainModelError(error, `${this.provider}/${this.modelId}`);
    }
  }
}

async function loadEmbeddingModel(
  name: string,
  modelId: string,
  options: ModelProviderOptions,
): Promise<EmbeddingModel> {
  const provider = await loadModelProvider(name, options);
  const model = provider.embeddingModel?.(modelId) ?? provider.textEmbeddingModel?.(modelId);
  if (!model) {
    throw new QuiverError('MODEL_KIND_UNSUPPORTED', `The provider '${name}' offers no embedding models.`);
  }
  return model as EmbeddingModel;
}
