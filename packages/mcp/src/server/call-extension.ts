import type { Result } from '../content.js';
import type { ToolLike } from '@quiver/core/tools';
import type { Era } from '../protocol/constants.js';
import type { ParamHeader } from '../protocol/param-headers.js';
import type { CatalogItem, ListedTool, ToolType } from './tools/catalog.js';
import type { JsonRpcRequest } from '../protocol/json-rpc.js';
import type { Continuation } from './continued-run.js';
import type { ServerRequest } from './request.js';

/** A tool that a server offers. */
export interface RegisteredTool {
  readonly name: string;
  readonly tool: ToolLike;
  readonly toolType: ToolType;
  readonly listed: ListedTool;
  /** The tool as `visible` receives it. */
  readonly item: CatalogItem;
  /** Whether results go out as `structuredContent`. */
  readonly structured: Readonly<Record<Era, boolean>>;
  /** Arguments that modern clients repeat in headers. */
  readonly paramHeaders: readonly ParamHeader[];
  /** Whether the result of a call depends on the tools of the server. Default `false`. */
  readonly needsTools?: boolean;
  /** Whether the tool itself decides that the run of a call continues after its response. Default `false`. */
  readonly continuesItself?: boolean;
  /** Extensions that calls of the tool run through, in their order. */
  readonly extensions: readonly CallExtension[];
}

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

/** Addition of a feature to calls of tools. Extensions run in the order of the table of features, hooks and the tool inside of all. */
export interface CallExtension {
  /** Returns the call that a `tools/call` stands for; `undefined` for the one that it names. Hooks, traces, limits and scopes see that call. */
  resolve?(message: JsonRpcRequest): ResolvedCall | undefined;
  /**
   * Reads the options of a tool of the server, when it is registered.
   *
   * @returns whether calls of the tool run through the extension
   * @throws for options that cannot be used: the tool is not served
   */
  register?(registered: RegisteredTool): boolean;
  /**
   * Runs around a call whose tool is found.
   *
   * @throws ProtocolError to refuse the call; other errors become error results, as those of tools
   */
  run?(request: ServerRequest, registered: RegisteredTool, run: () => Promise<Result>): Promise<Result>;
  /**
   * Returns what decides whether the run of a modern call continues after its response; `undefined` for one that does not. The first result that is not `undefined`
   * counts.
   */
  continuation?(request: ServerRequest, registered: RegisteredTool): Continuation | undefined;
}
