import { QuiverError, toErrorMessage } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  functionValue,
  type OptionChecks,
  stringValue,
  invalidOptions,
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

const checks: OptionChecks<RerankApiOptions> = {
  provider: anyValue,
  model: anyValue,
  // Never quoted.
  apiKey: anyValue,
  url: stringValue,
  fetch: functionValue,
};

/** The APIs differ in their addresses and in the member of the answer that holds the ranking. */
const apis: Readonly<Record<RerankProvider, { url: string; ranking: 'results' | 'data' }>> = {
  cohere: { url: 'https://api.cohere.com/v2/rerank', ranking: 'results' },
  voyage: { url: 'https://api.voyageai.com/v1/rerank', ranking: 'data' },
  jina: { url: 'https://api.jina.ai/v1/rerank', ranking: 'results' },
  zeroentropy: { url: 'https://api.zeroentropy.dev/v1/models/rerank', ranking: 'results' },
};

const maxProblemLength = 500;
/** 10 MiB; the score of a text takes about 60 bytes. */
const maxAnswerBytes = 10 * 1024 * 1024;

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
  const api = Object.hasOwn(apis, provider) ? apis[provider] : undefined;
  if (!api) throw invalidOptions(`Unknown provider '${String(provider)}'; known: ${Object.keys(apis).join(', ')}.`);
  if (typeof model !== 'string' || model === '') throw invalidOptions(`A reranker of ${provider} needs a model.`);
  const variable = `${provider.toUpperCase()}_API_KEY`;
  const key = apiKey ?? globalThis.process?.env[variable];
  if (!key) throw invalidOptions(`A reranker of ${provider} needs apiKey, or the environment variable ${variable}.`);
  // The error of an invalid header would contain the key.
  if (!/^[\x21-\x7e]+$/.test(key.trim()))
    throw invalidOptions(`The key for ${provider} contains spaces, line breaks or characters outside ASCII.`);
  return {
    modelId: model,
    async doRerank({ query, documents, abortSignal }) {
      const request = {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key.trim()}` },
        body: JSON.stringify({ model, query, documents: documents.values }),
        ...(abortSignal && { signal: abortSignal }),
      };
      const { response, text } = await send(fetch, url ?? api.url, request).catch((error: unknown) => {
        abortSignal?.throwIfAborted();
        throw requestFailed(provider, toErrorMessage(error), { isRetryable: true, cause: error });
      });
      if (text === undefined)
        throw new QuiverError('RERANK_ANSWER_INVALID', `The answer of ${provider} exceeds ${maxAnswerBytes} bytes.`);
      if (!response.ok) {
        const { status } = response;
        throw requestFailed(provider, `status ${status}: ${text.slice(0, maxProblemLength)}`, {
          isRetryable: status === 408 || status === 429 || status >= 500,
          responseHeaders: Object.fromEntries(response.headers),
          status,
        });
      }
      return { ranking: readRanking(provider, text, api.ranking) };
    },
  };
}

/** Returns the response and its text; `undefined` in place of a text that is too long. */
async function send(
  fetch: typeof globalThis.fetch,
  url: string,
  request: RequestInit,
): Promise<{ response: Response; text: string | undefined }> {
  const response = await fetch(url, request);
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  // Leaving the loop cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxAnswerBytes) return { response, text: undefined };
    text += decoder.decode(chunk, { stream: true });
  }
  return { response, text: text + decoder.decode() };
}

function readRanking(
  provider: RerankProvider,
  text: string,
  member: 'results' | 'data',
): { index: number; relevanceScore: number }[] {
  const list = parse(text)?.[member];
  if (!Array.isArray(list)) {
    throw new QuiverError(
      'RERANK_ANSWER_INVALID',
      `${provider} did not answer with a list of ${member}, but with ${JSON.stringify(text.slice(0, maxProblemLength))}. Check the url of the reranker.`,
    );
  }
  return (list as ({ index?: unknown; relevance_score?: unknown } | null)[]).map((entry) => ({
    index: Number(entry?.index),
    // Checked for each text afterwards.
    relevanceScore: entry?.relevance_score as number,
  }));
}

function parse(text: string): Record<string, unknown> | null | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return undefined;
  }
}

/** `isRetryable` and `responseHeaders` are read by the repetition of requests, as those of the AI SDK's errors. */
function requestFailed(
  provider: RerankProvider,
  problem: string,
  {
    status,
    cause,
    ...retry
  }: { isRetryable: boolean; responseHeaders?: Record<string, string>; status?: number; cause?: unknown },
): QuiverError {
  const error = new QuiverError('RERANK_REQUEST_FAILED', `The rerank request to ${provider} failed: ${problem}`, {
    cause,
    details: { status },
  });
  return Object.assign(error, retry);
}
