import { Result, type ResultType } from '../../content.js';
import { metaKeys } from '../../protocol/constants.js';
import { cacheableMethods, listMethods, type ListMethod } from '../../protocol/methods.js';
import type { Implementation } from '../../protocol/types.js';
import type { CacheHint, CacheHints } from './server-config.js';

/** Milliseconds for which clients may cache a list that they have not subscribed to changes of. */
const defaultListLifetime = 5000;

/** Results of the modern era as JSON: to the members of a method it adds a cache hint, the type of the result and the identity of the server. */
export class ModernResults {
  readonly #meta: Readonly<Record<string, unknown>>;
  readonly #end: string;
  readonly #hints: ReadonlyMap<string, Required<CacheHint>>;

  constructor(serverInfo: Implementation, hints: CacheHints = {}) {
    this.#meta = { [metaKeys.serverInfo]: serverInfo };
    this.#end = endOf(this.#meta);
    this.#hints = new Map(
      cacheableMethods.map((method) => {
        // The cast: a test for membership.
        const lifetime = listMethods.includes(method as ListMethod) ? defaultListLifetime : 0;
        const { ttlMs = lifetime, cacheScope = 'private' } = hints[method] ?? {};
        return [method, { ttlMs, cacheScope }];
      }),
    );
  }

  /** Returns the text of a complete result. */
  toText(method: string, { members, meta, isPrivate }: Result): string {
    const hint = this.#hints.get(method);
    const given = members === '' ? '{' : `{${members},`;
    const begin = hint ? `${given}${hintText(hint, isPrivate)},` : given;
    return begin + (meta ? endOf({ ...this.#meta, ...meta }) : this.#end);
  }

  /** Returns a result of another type. */
  create(resultType: Exclude<ResultType, 'complete'>, members: object): Result {
    return Result.whole(JSON.stringify({ resultType, ...members, _meta: this.#meta }), resultType);
  }
}

function hintText({ ttlMs, cacheScope }: Required<CacheHint>, isPrivate: boolean): string {
  return `"ttlMs":${ttlMs},"cacheScope":"${isPrivate ? 'private' : cacheScope}"`;
}

function endOf(meta: object): string {
  return `"resultType":"complete","_meta":${JSON.stringify(meta)}}`;
}
