import { QuiverError } from '../errors.js';
import { checkOptions, oneOf, type OptionChecks } from '../options.js';
import {
  explainModelError,
  loadModelProvider,
  modelProviderChecks,
  parseModelString,
  type ModelProviderOptions,
} from './model-provider.js';

/** A call of an embedding model, as defined by the AI SDK's provider specification. */
export interface EmbedCall {
  values: string[];
  abortSignal?: AbortSignal | undefined;
  headers?: Record<string, string | undefined> | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- JSON of the provider's own shape
  providerOptions?: Record<string, any> | undefined;
}

/** Result of an embedding model, as defined by the AI SDK's provider specification. */
export interface EmbedResult {
  embeddings: number[][];
  usage?: { tokens: number } | undefined;
}

/** A result with the members that all specification versions require. */
export interface RoutedEmbedResult {
  embeddings: number[][];
  usage?: { tokens: number };
  // oxlint-disable-next-line typescript/no-explicit-any -- typed differently in each specification version
  warnings: any[];
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

/** The versions of the provider specification that AI SDK 5, 6 and 7 are made for. */
export type EmbeddingSpecification = 'v2' | 'v3' | 'v4';

/** Options of {@link ModelRouterEmbeddingModel}. */
export interface ModelRouterEmbeddingOptions<
  Specification extends EmbeddingSpecification = 'v2',
> extends ModelProviderOptions {
  /**
   * Version of the provider specification that the model declares. Default `v2`, which AI SDK 5, 6 and 7 take, the last two with a warning on the console:
   * `v3` (6 and 7) or `v4` (7) silences it.
   */
  specificationVersion?: Specification;
}

const checks: OptionChecks<ModelRouterEmbeddingOptions<EmbeddingSpecification>> = {
  ...modelProviderChecks,
  specificationVersion: oneOf('v2', 'v3', 'v4'),
};

/**
 * An embedding model named by a string, for every place where the AI SDK takes an embedding model. Its provider package
 * (`@ai-sdk/openai`, …) is loaded at the first call.
 *
 * @example
 * new ModelRouterEmbeddingModel('openai/text-embedding-3-small')
 * @throws `OPTIONS_INVALID`; `MODEL_STRING_INVALID` when the string is not of the form `provider/model`; calls reject with
 *   `MODEL_PROVIDER_UNKNOWN`, `MODEL_PACKAGE_MISSING`, `MODEL_KEY_MISSING` or `MODEL_KIND_UNSUPPORTED`
 */
export class ModelRouterEmbeddingModel<Specification extends EmbeddingSpecification = 'v2'> implements EmbeddingModel {
  readonly specificationVersion: Specification;
  readonly provider: string;
  readonly modelId: string;
  /** A plain property, not a `#private` one: AI SDK 6 and 7 call models through a proxy. */
  private readonly resolve: () => Promise<EmbeddingModel>;

  constructor(model: string, options: ModelRouterEmbeddingOptions<Specification> = {}) {
    checkOptions('ModelRouterEmbeddingModel', options, checks);
    const { provider, modelId } = parseModelString(model, 'openai/text-embedding-3-small');
    const { specificationVersion = 'v2', ...settings } = options;
    // Without the option, `Specification` is its default.
    this.specificationVersion = specificationVersion as Specification;
    this.provider = provider;
    this.modelId = modelId;
    let resolved: Promise<EmbeddingModel> | undefined;
    this.resolve = () => {
      resolved ??= loadEmbeddingModel(provider, modelId, settings).catch((error: unknown) => {
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

  async doEmbed(call: EmbedCall): Promise<RoutedEmbedResult> {
    const model = await this.resolve();
    try {
      // The provider's result, of which `usage` may be absent but is never `undefined`.
      return { warnings: [], ...((await model.doEmbed(call)) as Omit<RoutedEmbedResult, 'warnings'>) };
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
