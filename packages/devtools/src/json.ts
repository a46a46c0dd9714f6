/** Parameters or a result of JSON-RPC. */
export type Params = Record<string, unknown>;

/** A response of JSON-RPC: it has a result or an error. */
export interface RpcResponse {
  result?: Params;
  error?: { code: number; message: string; data?: unknown };
}

/** Methods that list what a server offers. */
export type ListMethod = 'prompts/list' | 'resources/list' | 'resources/templates/list' | 'tools/list';

/** Returns whether a value is a JSON object: not a list, not `null`. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
