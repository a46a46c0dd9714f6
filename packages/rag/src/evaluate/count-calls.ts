import type { EmbedderInput } from '../embedding/index.js';
import type { RelevanceModel } from '../rerank/score-texts.js';

/** Calls of the models of a configuration. */
export interface ModelCost {
  /** Calls of embedding, reranking and language models. */
  calls: number;
  /** Tokens that these models reported; absent when none did. */
  tokens?: number;
}

/** Methods of models and embedders that cost something. */
const counted: ReadonlySet<unknown> = new Set(['embed', 'doEmbed', 'doGenerate', 'doRerank', 'getRelevanceScore']);

/**
 * Returns a model whose calls are added to a cost. Everything else is passed on unchanged.
 *
 * @param model - a model string is resolved
 */
export async function countCalls<Model extends EmbedderInput | RelevanceModel>(
  model: Model,
  cost: ModelCost,
  kind: 'embedding' | 'language',
): Promise<Exclude<Model, string>> {
  const target = (typeof model === 'string' ? await resolve(model, kind) : model) as Exclude<Model, string>;
  if (typeof target !== 'object' || target === null) return target;
  return new Proxy(target, {
    get(object, key) {
      const value: unknown = Reflect.get(object, key);
      if (typeof value !== 'function') return value;
      // Methods of classes with private fields need the original object.
      const method = (value as (...parameters: unknown[]) => unknown).bind(object);
      if (!counted.has(key)) return method;
      return async (...parameters: unknown[]) => {
        cost.calls += 1;
        const result = await method(...parameters);
        const tokens = tokensOf(result);
        if (tokens !== undefined) cost.tokens = (cost.tokens ?? 0) + tokens;
        return result;
      };
    },
  });
}

async function resolve(name: string, kind: 'embedding' | 'language'): Promise<unknown> {
  const llm = await import('@quiver/core/llm');
  return kind === 'embedding' ? new llm.ModelRouterEmbeddingModel(name) : llm.resolveLanguageModel(name);
}

/** The specifications of AI SDK 5, 6 and 7 report `{ tokens }`, `{ inputTokens: 5 }` or `{ inputTokens: { total: 5 } }`. */
function tokensOf(result: unknown): number | undefined {
  const { usage } = (result ?? {}) as { usage?: Record<string, unknown> };
  const counts = ['tokens', 'inputTokens', 'outputTokens'].flatMap((name) => {
    const value = usage?.[name];
    const count = typeof value === 'object' ? (value as { total?: unknown } | null)?.total : value;
    return typeof count === 'number' && Number.isFinite(count) ? [count] : [];
  });
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}
