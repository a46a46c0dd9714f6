import { QuiverError, toErrorMessage, type QuiverErrorOptions } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  functionValue,
  invalidOptions,
  oneOf,
  type OptionChecks,
  required,
  stringValue,
} from '@quiver/core/internal';
import type { RerankingModel } from './score-texts.js';

/** Providers of rerank APIs. */
export type RerankProvider = 'cohere' | 'voyage' | 'jina' | 'zeroentropy';

/** Options of `createReranker()`. */
export interface RerankApiOptions {
  /** Service whose API is called. */
  provider: RerankProvider;
  /** Model of the provider, for example `rerank-2.5`, `jina-reranker-v3` or `zerank-2`. */
  model: string;
  /** Default: the environment variable of the provider, such as `VOYAGE_API_KEY`. */
  apiKey?: string;
  /** Address that requests are sent to. Default: that of the provider. */
  url?: string;
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

const urls: Readonly<Record<RerankProvider, string>> = {
  cohere: 'https://api.cohere.com/v2/rerank',
  voyage: 'https://api.voyageai.com/v1/rerank',
  jina: 'https://api.jina.ai/v1/rerank',
  zeroentropy: 'https://api.zeroentropy.dev/v1/models/rerank',
};

const checks: OptionChecks<RerankApiOptions> = {
  provider: required(oneOf(...Object.keys(urls))),
  model: required(stringValue),
  // Never quoted.
  apiKey: anyValue,
  url: stringValue,
  fetch: functionValue,
};

const maxProblemLength = 500;

/**
 * Creates a reranking model over the HTTP API of a provider. It sends one request per list; `rerank()` repeats it after status 408, 429 and 5xx.
 *
 * @throws `OPTIONS_INVALID` for an unknown option or provider, and without model or key; from `doRerank`, `RERANK_REQUEST_FAILED` with `details.status`,
 *   `RERANK_ANSWER_INVALID`, and the abort reason
 * @example
 * const best = await rerank(matches, question, createReranker({ provider: 'voyage', model: 'rerank-2.5' }), { topK: 5 });
 */
export function createReranker(options: RerankApiOptions): RerankingModel {
  checkOptions('createReranker', options, checks);
  const { provider, model, apiKey, url, fetch = globalThis.fetch } = options;
  const variable = `${provider.toUpperCase()}_API_KEY`;
  const key = apiKey ?? globalThis.process?.env[variable];
  if (!key) throw invalidOptions(`A reranker of ${provider} needs apiKey, or the environment variable ${variable}.`);
  // The error of an invalid header would contain the key.
  if (!/^[\x21-\x7e]+$/.test(key.trim()))
    throw invalidOptions(`The key for ${provider} contains spaces, line breaks or characters outside ASCII.`);
  return {
    modelId: model,
    async doRerank({ query, documents, abortSignal }) {
      const post = async (): Promise<{ response: Response; text: string }> => {
        const response = await fetch(url ?? urls[provider], {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key.trim()}` },
          body: JSON.stringify({ model, query, documents: documents.values }),
          signal: abortSignal ?? null,
        });
        return { response, text: await response.text() };
      };
      const { response, text } = await post().catch((error: unknown) => {
        abortSignal?.throwIfAborted();
        throw requestFailed(provider, toErrorMessage(error), { isRetryable: true }, { cause: error });
      });
      if (!response.ok) {
        const { status, headers } = response;
        const isRetryable = status === 408 || status === 429 || status >= 500;
        const retry = { isRetryable, responseHeaders: Object.fromEntries(headers) };
        const problem = `status ${status}: ${text.slice(0, maxProblemLength)}`;
        throw requestFailed(provider, problem, retry, { details: { status } });
      }
      return { ranking: readRanking(provider, text) };
    },
  };
}

/** Voyage calls the list `data`, the others call it `results`. */
function readRanking(provider: RerankProvider, text: string): { index: number; relevanceScore: number }[] {
  let list: unknown;
  try {
    const answer = JSON.parse(text) as { results?: unknown; data?: unknown } | null;
    list = answer?.results ?? answer?.data;
  } catch {
    // Reported below.
  }
  if (!Array.isArray(list)) {
    throw new QuiverError(
      'RERANK_ANSWER_INVALID',
      `${provider} did not answer with a list of results, but with ${JSON.stringify(text.slice(0, maxProblemLength))}. Check the url of the reranker.`,
    );
  }
  return (list as ({ index?: unknown; relevance_score?: unknown } | null)[]).map((entry) => ({
    index: Number(entry?.index),
    // Checked for each text afterwards.
    relevanceScore: entry?.relevance_score as number,
  }));
}

/** @param retry - read by the repetition of requests, as those of the AI SDK's errors */
function requestFailed(
  provider: RerankProvider,
  problem: string,
  retry: { isRetryable: boolean; responseHeaders?: Record<string, string> },
  options: QuiverErrorOptions,
): QuiverError {
  const error = new QuiverError(
    'RERANK_REQUEST_FAILED',
    `The rerank request to ${provider} failed: ${problem}`,
    options,
  );
  return Object.assign(error, retry);
}
