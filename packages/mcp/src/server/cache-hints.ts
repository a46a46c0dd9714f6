import { QuiverError } from '@quiver/core';

/** What a client of the stateless revision may keep, for how long and for whom. */
export interface CacheHint {
  /** Milliseconds. 0 means that it must ask again. */
  ttlMs: number;
  /** `public` only for what every caller gets alike. Default `private`. */
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

/** Hints by method; without one nothing is kept. */
export type CacheHints = Partial<Record<CacheableMethod, CacheHint>>;

/**
 * The members of a result that say how long it may be kept, as JSON text by method.
 *
 * @throws `SERVER_CONFIG_INVALID`
 */
export function describeCacheHints(hints: CacheHints): Readonly<Record<CacheableMethod, string>> {
  for (const method of Object.keys(hints)) {
    if (!cacheableMethods.includes(method as CacheableMethod))
      throw invalid(`there is nothing to cache of '${method}'; use ${cacheableMethods.join(', ')}`);
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
