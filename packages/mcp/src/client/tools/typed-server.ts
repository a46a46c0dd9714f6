import type { CallToolResult } from '../../protocol/types.js';
import { RemoteToolError } from '../config/tool-options.js';
import type { CallToolOptions } from './call-tool.js';
import { toToolOutput } from './tool-result.js';

/** Input and output of a tool. */
export interface ToolSignature {
  input: unknown;
  output: unknown;
}

/** Options of a method of `mcp.server()`. */
export type TypedCallOptions = Omit<CallToolOptions, 'serverName' | 'name' | 'args'>;

/** Names that JavaScript reads of an object that it awaits, prints or converts. Tools with these names have no method. */
const reserved = ['then', 'toJSON', 'toString', 'valueOf'] as const;

/** Calls a tool. The input can be omitted if all of it is optional. */
export type TypedToolMethod<Signature extends ToolSignature> =
  Record<never, never> extends Signature['input']
    ? (input?: Signature['input'], options?: TypedCallOptions) => Promise<Signature['output']>
    : (input: Signature['input'], options?: TypedCallOptions) => Promise<Signature['output']>;

/** The tools of one server as methods, see `mcp.server()`. */
export type TypedServer<Tools extends { [Name in keyof Tools]: ToolSignature }> = {
  readonly [Name in keyof Tools as Exclude<Name, (typeof reserved)[number]>]: TypedToolMethod<Tools[Name]>;
};

/** Returns a view whose members are functions that call the tool of that name. */
export function createTypedServer(
  serverName: string,
  callTool: (options: CallToolOptions) => Promise<CallToolResult>,
): object {
  return new Proxy(Object.freeze({ __proto__: null }), {
    get: (_target, name) => {
      if (typeof name !== 'string' || (reserved as readonly string[]).includes(name)) return undefined;
      return async (args?: Record<string, unknown>, options?: TypedCallOptions): Promise<unknown> => {
        const result = await callTool({ ...options, serverName, name, ...(args !== undefined && { args }) });
        if (result.isError === true) throw new RemoteToolError(serverName, name, result);
        return toToolOutput(result);
      };
    },
  });
}
