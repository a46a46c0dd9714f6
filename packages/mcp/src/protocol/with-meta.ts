import { isObject, type Params } from './json-rpc.js';

/** Returns parameters with further members in `_meta`. Members that are there take precedence. */
export function withMeta(params: Params = {}, meta: Params | undefined): Params {
  if (!meta) return params;
  const { _meta: own } = params;
  return { ...params, _meta: { ...meta, ...(isObject(own) && own) } };
}
