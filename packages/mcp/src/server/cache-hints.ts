import { QuiverError } from '@quiver/core';

/** Time and scope in which modern clients may cache a result. */
export interface CacheHint {
  /** Milliseconds; 0 means no caching. */
  ttlMs: number;
  /** `public` only for results that are the same for every caller. Default `private`. */
  cacheScope?: 'public' | 'private';
}

const cacheableMethods = [
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'server/discover',
] as const;

export type CacheableMethod = (typeof cacheableMethods)[number];

/** Hints by method; without a hint a result is not cached. */
export type CacheHints = Partial<Record<CacheableMethod, CacheHint>>;

/**
 * Returns the cache members of a result as JSON text, by method.
 *
 * @throws `SERVER_CONFIG_INVALID`
 */
export function describeCacheHints(hints: CacheHints): Readonly<Record<CacheableMethod, string>> {
  for (const method of Object.keys(hints)) {
    if (!cacheableMethods.includes(method as CacheableMethod))
      throw invalid(`results of '${method}' cannot be cached; use ${cacheableMethods.join(', ')}`);
  }
  const described = cacheableMethods.map((method) => {
    const { ttlMs = 0, cacheScope = 'private' } = hints[method] ?? {};
    if (!Number.isSafeInteger(ttlMs) || ttlMs < 0)
      throw invalid(`ttlMs of '${method}' must be a whole number of milliseconds, 0 or more`);
    if (cacheScope !== 'public' && cacheScope !== 'private')
      throw invalid(`cacheScope of '${method}' must be public or private`);
    return [method, `"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`];
  });
  return Object.fromEntries(described) as Record<CacheableMethod, string>;
}

function invalid(reason: string): QuiverError {
  return new QuiverError('SERVER_CONFIG_INVALID', `cacheHints of MCPServer cannot be used: ${reason}.`);
}
