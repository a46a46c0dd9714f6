// One limit for the requests of all workers: each takes its tokens from buckets that the workers share.
import { setTimeout as sleep } from 'node:timers/promises';

/** Token buckets that several processes share, such as a `PostgresStore` or `RedisStore` of `@quiver/mcp`. */
export interface SharedBuckets {
  /** @returns 0 when the tokens were taken; otherwise the milliseconds until they are there */
  take(key: string, amount: number, bucket: { capacity: number; perSecond: number }): Promise<number>;
}

/** An embedding model of the AI SDK. */
interface Model {
  readonly modelId: string;
  doEmbed(options: { values: string[]; abortSignal?: AbortSignal }): PromiseLike<unknown>;
}

/** Returns the model, whose requests wait until the store has tokens for them. A store that is down fails the request. */
export function limitRequests<Limited extends Model>(
  model: Limited,
  buckets: SharedBuckets,
  perMinute: { requests: number; tokens: number },
): Limited {
  const doEmbed = async (options: Parameters<Model['doEmbed']>[0]): Promise<unknown> => {
    const tokens = options.values.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0);
    for (const [name, amount] of [
      ['tokens', Math.min(tokens, perMinute.tokens)],
      ['requests', 1],
    ] as const) {
      const bucket = { capacity: perMinute[name], perSecond: perMinute[name] / 60 };
      const take = (): Promise<number> => buckets.take(`embedding:${model.modelId}:${name}`, amount, bucket);
      for (let delay = await take(); delay > 0; delay = await take())
        await sleep(Math.ceil(delay), undefined, { signal: options.abortSignal });
    }
    return model.doEmbed(options);
  };
  return new Proxy(model, { get: (target, name) => (name === 'doEmbed' ? doEmbed : Reflect.get(target, name)) });
}
