import { QuiverError } from '../errors.js';
import { checkOptions } from '../options.js';
import {
  explainModelError,
  loadModelProvider,
  modelProviderChecks,
  parseModelString,
  type ModelProviderOptions,
} from './model-provider.js';

/** An AI SDK language model of any specification version, as far as it is named here. */
export interface LanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the specifications differ in each AI SDK major
  doGenerate(options: any): PromiseLike<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the specifications differ in each AI SDK major
  doStream(options: any): PromiseLike<any>;
}

/** A model that goes into `generateText` of every AI SDK major; which specification it follows is known only at run time. */
export interface ResolvedLanguageModel extends LanguageModel {
  // oxlint-disable-next-line typescript/no-explicit-any -- each AI SDK major requires another literal
  readonly specificationVersion: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- part of every specification, never read here
  readonly supportedUrls: any;
}

/** The older name of {@link LanguageModel}. */
export type MastraLanguageModel = LanguageModel;

/**
 * Turns a model string into the AI SDK model of its provider package; a model object is returned unchanged.
 *
 * With a `baseURL`, uses the chat completions API of the provider, if any, because compatible servers implement that API.
 *
 * @example
 * const model = await resolveLanguageModel('openai/gpt-5.1');
 * await generateText({ model, prompt });
 * @throws `MODEL_STRING_INVALID`, `MODEL_PROVIDER_UNKNOWN`, `MODEL_PACKAGE_MISSING`, `OPTIONS_INVALID`
 * @throws `MODEL_KIND_UNSUPPORTED` when the provider has no language models
 * @throws `MODEL_KEY_MISSING` when the provider requires its key at creation; most providers check it at the first call
 */
export async function resolveLanguageModel(
  model: LanguageModel | string,
  options: ModelProviderOptions = {},
): Promise<ResolvedLanguageModel> {
  checkOptions('resolveLanguageModel', options, modelProviderChecks);
  // Every specification version has the member that `LanguageModel` leaves out.
  if (typeof model !== 'string') return model as ResolvedLanguageModel;
  const { provider, modelId } = parseModelString(model, 'openai/gpt-5.1');
  const models = await loadModelProvider(provider, options);
  const create = (options.baseURL !== undefined && models.chat) || models.languageModel;
  if (!create) {
    throw new QuiverError('MODEL_KIND_UNSUPPORTED', `The provider '${provider}' offers no language models.`);
  }
  try {
    // A model of the specification version that the provider's package implements.
    return create.call(models, modelId) as ResolvedLanguageModel;
  } catch (error) {
    throw explainModelError(error, model.trim());
  }
}
