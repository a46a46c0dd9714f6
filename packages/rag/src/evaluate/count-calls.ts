import type { RelevanceModel } from '../search/score-texts.js';

/** Calls of the models of a configuration. */
export interface ModelCost {
  /** Requests to embedding, reranking and language models. */
  calls: number;
  /** Tokens that these models reported; absent when none did. */
  tokens?: number;
}

/** Methods of models that cost something. */
const counted: ReadonlySet<unknown> = new Set(['doGenerate', 'doRerank', 'getRelevanceScore']);

type Call = (...parameters: unknown[]) => unknown;

/**
 * Returns a model or a function whose calls are added to a cost. Everything else is passed on unchanged.
 *
 * @param model - a model string is resolved
 */
export async function countCalls<Model extends RelevanceModel>(
  model: Model,
  cost: ModelCost,
): Promise<Exclude<Model, string>> {
  const resolved =
    typeof model === 'string' ? await (await import('@quiver/core/llm')).resolveLanguageModel(model) : model;
  const target = resolved as Exclude<Model, string>;
  const count =
    (call: Call): Call =>
    async (...parameters) => {
      cost.calls += 1;
      const result = await call(...parameters);
      addTokens(cost, tokensOf(result));
      return result;
    };
  if (typeof target === 'function') return count(target as Call) as typeof target;
  if (typeof target !== 'object' || target === null) return target;
  return new Proxy(target, {
    get(object, key) {
      const value: unknown = Reflect.get(object, key);
      if (typeof value !== 'function') return value;
      // Methods of classes with private fields need the original object.
      const method = value.bind(object) as Call;
      return counted.has(key) ? count(method) : method;
    },
  });
}

export function addTokens(cost: ModelCost, tokens: number): void {
  if (tokens > 0) cost.tokens = (cost.tokens ?? 0) + tokens;
}

/** The specifications of AI SDK 5, 6 and 7 report `{ inputTokens: 5 }` or `{ inputTokens: { total: 5 } }`. */
function tokensOf(result: unknown): number {
  const { usage } = (result ?? {}) as { usage?: Record<string, unknown> };
  const counts = ['inputTokens', 'outputTokens'].map((name) => {
    const value = usage?.[name];
    const count = typeof value === 'object' ? (value as { total?: unknown } | null)?.total : value;
    return typeof count === 'number' && Number.isFinite(count) ? count : 0;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}
