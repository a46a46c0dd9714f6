/** Parameters or a result of JSON-RPC. */
export type Params = Record<string, unknown>;

/** An error of JSON-RPC. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** A response of JSON-RPC: it has a result or an error. */
export interface RpcResponse {
  result?: Params;
  error?: RpcError;
}

/** Returns whether a value is a JSON object: not a list, not `null`. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Methods that list what a server offers. */
export type ListMethod = 'prompts/list' | 'resources/list' | 'resources/templates/list' | 'tools/list';

/** Returns the part of a schema that a reference such as `#/$defs/City` names, `undefined` for none and for other documents. */
export function resolvePointer(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined;
  let target = root;
  for (const segment of decode(reference).split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) return undefined;
    target = (target as Record<string, unknown>)[key];
  }
  return target;
}

function decode(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}
