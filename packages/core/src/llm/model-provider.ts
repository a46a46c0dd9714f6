import { QuiverError, toErrorMessage } from '../errors.js';
import { unchecked, type OptionChecks } from '../options.js';

/** Settings of a provider, for gateways, proxies and keys that are not in the environment. */
export interface ModelProviderOptions {
  /** Default: the environment variable that the provider's package reads, such as `OPENAI_API_KEY`. */
  apiKey?: string;
  /** Default: the provider's own. */
  baseURL?: string;
  /** Headers of every request to the provider. */
  headers?: Record<string, string>;
}

/** Checks of {@link ModelProviderOptions}. The provider checks the values. */
export const modelProviderChecks: OptionChecks<ModelProviderOptions> = unchecked<ModelProviderOptions>()(
  'apiKey',
  'baseURL',
  'headers',
);

/** The function that each AI SDK provider package exports to create a provider with settings. */
const factories: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'createAmazonBedrock',
  anthropic: 'createAnthropic',
  azure: 'createAzure',
  cohere: 'createCohere',
  deepseek: 'createDeepSeek',
  google: 'createGoogleGenerativeAI',
  groq: 'createGroq',
  mistral: 'createMistral',
  openai: 'createOpenAI',
  togetherai: 'createTogetherAI',
  xai: 'createXai',
};

/**
 * Splits a model string at its first slash; white space around it is ignored.
 *
 * @param example - a model string of the expected kind, for the error
 * @throws `MODEL_STRING_INVALID` when it is not of the form `provider/model`
 */
export function parseModelString(text: string, example: string): { provider: string; modelId: string } {
  const [provider = '', ...rest] = text.trim().split('/');
  const modelId = rest.join('/');
  if (provider === '' || modelId === '') {
    throw new QuiverError(
      'MODEL_STRING_INVALID',
      `'${text}' does not name a model. Write provider/model, for example '${example}'.`,
    );
  }
  return { provider, modelId };
}

/** The part of an AI SDK provider that is used here; older majors call the embedding method by its longer name. */
export interface ModelProvider {
  languageModel?(modelId: string): unknown;
  /** The chat completions API, which compatible servers implement, for providers whose default is a different API. */
  chat?(modelId: string): unknown;
  embeddingModel?(modelId: string): unknown;
  textEmbeddingModel?(modelId: string): unknown;
}

/**
 * Loads the AI SDK provider package `@ai-sdk/<provider>` on first use and creates a provider with the given settings.
 *
 * @throws `MODEL_PROVIDER_UNKNOWN` for a provider without an AI SDK package that is known here
 * @throws `MODEL_PACKAGE_MISSING` when the package is not installed, or cannot be used
 */
export async function loadModelProvider(provider: string, options: ModelProviderOptions): Promise<ModelProvider> {
  const factory = Object.hasOwn(factories, provider) ? factories[provider] : undefined;
  if (factory === undefined) {
    throw new QuiverError(
      'MODEL_PROVIDER_UNKNOWN',
      `There is no known AI SDK package for the provider '${provider}'. Known: ${Object.keys(factories).join(', ')}. Any AI SDK model object can be passed instead of a string.`,
    );
  }
  const packageName = `@ai-sdk/${provider}`;
  let loaded: Record<string, unknown>;
  try {
    // The name is computed, so that bundlers do not demand a package the user never installed.
    loaded = (await import(/* @vite-ignore */ /* webpackIgnore: true */ packageName)) as Record<string, unknown>;
  } catch (error) {
    throw new QuiverError(
      'MODEL_PACKAGE_MISSING',
      `Models of '${provider}' need the package ${packageName}: npm install ${packageName} (${toErrorMessage(error)})`,
      { cause: error },
    );
  }
  const create = loaded[factory];
  if (typeof create !== 'function') {
    throw new QuiverError(
      'MODEL_PACKAGE_MISSING',
      `The installed ${packageName} has no ${factory}(). Install a version that belongs to AI SDK 5, 6 or 7, or pass a model object instead of a string.`,
    );
  }
  return (create as (settings: ModelProviderOptions) => ModelProvider)(options);
}

/**
 * Adds the model to the AI SDK's error about a missing key. Other errors are returned unchanged.
 *
 * @returns `MODEL_KEY_MISSING`, or the error given
 */
export function explainModelError(error: unknown, model: string): unknown {
  if (!(error instanceof Error) || error.name !== 'AI_LoadAPIKeyError') return error;
  return new QuiverError('MODEL_KEY_MISSING', `The model '${model}' cannot be called: ${error.message}`, {
    cause: error,
  });
}
