import type { Result } from '../content.js';
import type { JsonRpcRequest } from '../protocol/json-rpc.js';
import type { RegisteredTool } from './tools/tool-registry.js';

/** The call that a request stands for, where the client names it in the arguments of another one. */
export interface ResolvedCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /**
   * Returns the tool that the call has found.
   *
   * @param found - tool of the name that the caller can see
   * @throws errors for {@link ResolvedCall.toResult}
   */
  requireTool(found: RegisteredTool | undefined): RegisteredTool;
  /** Returns the result in place of an error that would refuse the call; `undefined` to refuse it. */
  toResult(error: unknown): Result | undefined;
}

/** What a feature adds to calls of tools. Extensions run in the order of the table of features, hooks and the tool inside of all. */
export interface CallExtension {
  /** Returns the call that a `tools/call` stands for; `undefined` for the one that it names. Hooks, traces, limits and scopes see that call. */
  resolve?(message: JsonRpcRequest): ResolvedCall | undefined;
}

/** Returns the call that a request stands for; `undefined` for the one that it names, and for other methods. */
export function resolveCall(
  { calls }: { readonly calls: readonly CallExtension[] },
  message: JsonRpcRequest,
): ResolvedCall | undefined {
  if (message.method !== 'tools/call') return undefined;
  for (const extension of calls) {
    const resolved = extension.resolve?.(message);
    if (resolved) return resolved;
  }
  return undefined;
}
