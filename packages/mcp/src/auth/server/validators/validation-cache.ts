import type { TokenValidationResult } from '../token-validator.js';

export interface ValidationCacheOptions {
  /** Milliseconds a good answer is kept. Bad ones are kept for a sixth of it. */
  readonly ttl: number;
  readonly maxEntries: number;
  readonly now: () => number;
}

type Load = () => Promise<TokenValidationResult>;

/** Remembers verdicts, and lets everyone who asks for the same one at the same time wait for one answer. Outages are not kept. */
export function createValidationCache({
  ttl,
  maxEntries,
  now,
}: ValidationCacheOptions): (key: string, load: Load) => Promise<TokenValidationResult> {
  const entries = new Map<string, { result: TokenValidationResult; until: number }>();
  const running = new Map<string, Promise<TokenValidationResult>>();

  const keep = (key: string, result: TokenValidationResult): void => {
    const lifetime = lifetimeOf(result);
    if (lifetime <= 0) return;
    entries.delete(key);
    entries.set(key, { result, until: now() + lifetime });
    const [oldest] = entries.keys();
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
  };

  const lifetimeOf = ({ valid, error, expiresAt }: TokenValidationResult): number => {
    if (!valid) return error === 'invalid_token' ? ttl / 6 : 0;
    return expiresAt === undefined ? ttl : Math.min(ttl, expiresAt * 1000 - now());
  };

  return (key, load) => {
    const known = entries.get(key);
    if (known && known.until > now()) return Promise.resolve(known.result);
    const shared = running.get(key);
    if (shared) return shared;
    const loading = load()
      .then((result) => {
        keep(key, result);
        return result;
      })
      .finally(() => running.delete(key));
    running.set(key, loading);
    return loading;
  };
}
