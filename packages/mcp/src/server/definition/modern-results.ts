import type { Result } from '../../content.js';
import { metaKeys } from '../../protocol/constants.js';
import { cacheableMethods, listMethods, type ListMethod } from '../../protocol/methods.js';
import type { Implementation } from '../../protocol/types.js';
import type { CacheHints } from './server-config.js';

/** Milliseconds for which clients may cache a list that they have not subscribed to changes of. */
const defaultListLifetime = 5000;

/** Returns the members of the modern era for a result of a method: a cache hint, the type of the result and the identity of the server. */
export type ModernMembers = (method: string, result: Result) => object;

export function createModernMembers(serverInfo: Implementation, hints: CacheHints = {}): ModernMembers {
  const own = { [metaKeys.serverInfo]: serverInfo };
  const byMethod = new Map<string, object>(
    cacheableMethods.map((method) => {
      // The cast: a test for membership.
      const lifetime = listMethods.includes(method as ListMethod) ? defaultListLifetime : 0;
      const { ttlMs = lifetime, cacheScope = 'private' } = hints[method] ?? {};
      return [method, { ttlMs, cacheScope }];
    }),
  );
  return (method, { meta, isPrivate, type }) => {
    const hint = type === 'complete' ? byMethod.get(method) : undefined;
    return {
      ...hint,
      ...(hint && isPrivate && { cacheScope: 'private' }),
      resultType: type,
      _meta: meta ? { ...own, ...meta } : own,
    };
  };
}
