import type { Result } from '../../content.js';
import { metaKeys } from '../../protocol/constants.js';
import { cacheableMethods, listMethods, type ListMethod } from '../../protocol/methods.js';
import type { Implementation } from '../../protocol/types.js';
import type { CacheHint, CacheHints } from './server-config.js';

/** Milliseconds for which clients may cache a list that they have not subscribed to changes of. */
const defaultListLifetime = 5000;

/** Members that results of the modern era have in common: a cache hint, the type of the result and the identity of the server. */
export class ModernResults {
  readonly #meta: Readonly<Record<string, unknown>>;
  readonly #hints: ReadonlyMap<string, Required<CacheHint>>;

  constructor(serverInfo: Implementation, hints: CacheHints = {}) {
    this.#meta = { [metaKeys.serverInfo]: serverInfo };
    this.#hints = new Map(
      cacheableMethods.map((method) => {
        // The cast: a test for membership.
        const lifetime = listMethods.includes(method as ListMethod) ? defaultListLifetime : 0;
        const { ttlMs = lifetime, cacheScope = 'private' } = hints[method] ?? {};
        return [method, { ttlMs, cacheScope }];
      }),
    );
  }

  membersFor(method: string, { meta, isPrivate, type }: Result): object {
    const hint = type === 'complete' ? this.#hints.get(method) : undefined;
    return {
      ...hint,
      ...(hint && isPrivate && { cacheScope: 'private' }),
      resultType: type,
      _meta: meta ? { ...this.#meta, ...meta } : this.#meta,
    };
  }
}
