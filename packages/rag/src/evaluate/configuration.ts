import type { QuiverError } from '@quiver/core';
import { anyValue, checkOptions, type OptionChecks, stringValue, invalidOptions } from '@quiver/core/internal';
import { RequestContext } from '@quiver/core/request-context';
import { createLexicalEmbedder, toEmbedder, type EmbedderInput } from '../embedding/index.js';
import { expandValue } from '../search/expand-passages.js';
import { rerankConfigValue } from '../search/rerank.js';
import type { VectorFilter, VectorStore } from '../store/index.js';
import { mmrValue, fusionValue, modeValue, topKValue } from '../store/options.js';
import type { VectorQueryToolOptions } from '../tools/query-tool-options.js';
import { createVectorQueryTool } from '../tools/vector-query-tool.js';
import { addTokens, countCalls, type ModelCost } from './count-calls.js';
import type { RetrievedResult } from './judge.js';

/** A function that retrieves: returns results, best first. */
export type RetrieveFunction = (
  question: string,
  options: { topK: number; signal?: AbortSignal | undefined },
) => PromiseLike<readonly RetrievedResult[]>;

/** A tool that retrieves, such as those of `createGraphRAGTool()` and `createVectorQueryTool()`. */
export interface RetrievalTool {
  execute(
    input: { queryText: string; topK: number },
    options: { onFailure: 'throw'; requestContext: RequestContext; abortSignal?: AbortSignal },
  ): PromiseLike<unknown>;
}

interface ConfigurationBase {
  name: string;
  /** Index of the results, where the cases are looked up. Default: `indexName` of the evaluation. */
  indexName?: string;
  /** Number of results. Default: the largest k of the metrics. */
  topK?: number;
}

/** A search in an index, as `createVectorQueryTool()` does it. */
export interface SearchConfiguration
  extends ConfigurationBase, Pick<VectorQueryToolOptions, 'mode' | 'fusion' | 'mmr' | 'expand' | 'reranker'> {
  /** Embedding model of the index. Needed unless the mode is `keyword`. */
  model?: EmbedderInput;
  filter?: VectorFilter;
  retrieve?: never;
}

/** Any other retrieval: a tool or a function. */
export interface CustomConfiguration extends ConfigurationBase {
  retrieve: RetrieveFunction | RetrievalTool;
}

/** How to retrieve, with a name. */
export type RetrievalConfiguration = SearchConfiguration | CustomConfiguration;

/** A configuration that was checked. */
export type CheckedConfiguration = RetrievalConfiguration & { indexName: string; filter?: VectorFilter };

const customChecks: OptionChecks<CustomConfiguration> = {
  name: stringValue,
  indexName: stringValue,
  topK: topKValue,
  retrieve: anyValue,
};

const searchChecks: OptionChecks<SearchConfiguration> = {
  ...customChecks,
  model: anyValue,
  mode: modeValue,
  fusion: fusionValue,
  mmr: mmrValue,
  expand: expandValue,
  filter: anyValue,
  reranker: rerankConfigValue,
};

/** @throws `OPTIONS_INVALID` */
export function checkConfigurations(
  configurations: unknown,
  { indexName, model: commonModel }: { indexName: string | undefined; model: EmbedderInput | undefined },
): CheckedConfiguration[] {
  if (!Array.isArray(configurations) || configurations.length === 0) {
    throw invalidOptions('An evaluation needs configurations: a list with at least one { name }.');
  }
  const names = new Set<string>();
  return configurations.map((given: RetrievalConfiguration) => {
    const { name, retrieve, indexName: index = indexName } = given ?? {};
    if (typeof name !== 'string' || name === '' || names.has(name)) {
      throw invalidOptions(`Every configuration needs a unique name, not '${String(name)}'.`);
    }
    names.add(name);
    const what = `The configuration '${name}'`;
    const invalid = (problem: string): QuiverError => invalidOptions(`${what} ${problem}`);
    if (retrieve === undefined) checkOptions(what, given as SearchConfiguration, searchChecks);
    else checkOptions(what, given as CustomConfiguration, customChecks);
    if (typeof index !== 'string') throw invalid('needs indexName: the index in which its cases are looked up.');
    if (retrieve === undefined) {
      const search = given as SearchConfiguration;
      const model = search.model ?? (search.mode === 'keyword' ? undefined : commonModel);
      if (search.mode !== 'keyword' && model === undefined) throw invalid(`needs a model, or the mode 'keyword'.`);
      return { ...search, ...(model !== undefined && { model }), indexName: index };
    }
    if (typeof retrieve !== 'function' && typeof (retrieve as RetrievalTool | null)?.execute !== 'function') {
      throw invalid('needs a retrieve that is a function or a tool.');
    }
    return { ...(given as CustomConfiguration), indexName: index };
  });
}

/** Returns the function that retrieves, and the cost so far as far as it is known. */
export async function createRetrieve(
  store: VectorStore,
  configuration: CheckedConfiguration,
): Promise<{ retrieve: RetrieveFunction; readCost?: () => ModelCost }> {
  const { retrieve } = configuration;
  if (typeof retrieve === 'function') return { retrieve };
  if (retrieve !== undefined) return { retrieve: fromTool(retrieve, undefined) };
  const {
    indexName,
    name: _name,
    topK: _topK,
    filter,
    model: given = createLexicalEmbedder(),
    reranker,
    ...search
  } = configuration;
  const model = toEmbedder(given);
  const before = { ...model.usage };
  const ofReranker: ModelCost = { calls: 0 };
  const counted = reranker && { ...reranker, model: await countCalls(reranker.model, ofReranker) };
  const tool = createVectorQueryTool({
    vectorStore: store,
    indexName,
    model,
    ...search,
    ...(counted && { reranker: counted }),
  });
  const readCost = (): ModelCost => {
    const cost = { ...ofReranker };
    cost.calls += (model.usage?.requests ?? 0) - (before.requests ?? 0);
    addTokens(cost, (model.usage?.tokens ?? 0) - (before.tokens ?? 0));
    return cost;
  };
  return { retrieve: fromTool(tool, filter), readCost };
}

function fromTool(tool: RetrievalTool, filter: VectorFilter | undefined): RetrieveFunction {
  return async (queryText, { topK, signal }) => {
    // Overrides `includeSources: false` of a tool.
    const requestContext = new RequestContext<unknown>([
      ['includeSources', true],
      ...(filter ? [['filter', filter] as const] : []),
    ]);
    const result = await tool.execute(
      { queryText, topK },
      { onFailure: 'throw', requestContext, ...(signal && { abortSignal: signal }) },
    );
    return (result as { sources: readonly RetrievedResult[] } | undefined)?.sources as readonly RetrievedResult[];
  };
}
