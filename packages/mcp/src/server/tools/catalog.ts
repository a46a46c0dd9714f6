import { escapeForLog, toErrorMessage, type Logger } from '@quiver/core';
import type { JsonSchema } from '@quiver/core/schema';
import type { AnyRequestContext, McpAuthInfo, ToolAnnotations, ToolMcpOptions } from '@quiver/core/tools';
import type { Prompt } from '../../prompt.js';
import { isObject } from '../../protocol/json-rpc.js';
import type { ServerState } from '../definition/server-state.js';
import type { ServerRequest } from '../request.js';
import type { Icon, Resource, ResourceTemplate } from '../../resource.js';

/** Origin of a tool. */
export type ToolType = 'tool' | 'agent' | 'workflow';

/** A tool as the protocol lists it. */
export interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  icons?: Icon[];
  _meta?: Record<string, unknown>;
}

/** Member of resources, templates and prompts that clients never receive. */
export interface ScopedItem {
  mcp?: {
    /** Scopes that a caller needs. For callers without them the item does not exist. */
    scopes?: readonly string[];
  };
}

/** An item of a list, as `visible` receives it. */
export type CatalogItem =
  | ({ readonly type: 'tool'; readonly toolType: ToolType; readonly mcp?: ToolMcpOptions } & Readonly<ListedTool>)
  | ({ readonly type: 'resource' } & Readonly<Resource & ScopedItem>)
  | ({ readonly type: 'resourceTemplate' } & Readonly<ResourceTemplate & ScopedItem>)
  | ({ readonly type: 'prompt' } & Readonly<Prompt & ScopedItem>);

/** Caller of a request, as `visible` receives it. */
export interface CatalogCaller {
  /** Stable key of the caller, made of the subject and its issuer; `undefined` without authentication, as over stdio. */
  readonly principal: string | undefined;
  /** Scopes of the caller; empty without authentication. */
  readonly scopes: readonly string[];
  /** Identity of the caller, with `extra.subject` and `extra.claims`. */
  readonly authInfo?: McpAuthInfo;
  /**
   * Values that middleware has set, and the request as `mcp.extra`. Where a change is announced to a session there is no request:
   * `mcp.extra` has the caller, and there are no other values.
   */
  readonly requestContext: AnyRequestContext;
}

/**
 * Returns whether a caller can see an item. Synchronous, because it runs for every item of every list: data that has to be fetched
 * belongs into the authentication. Anything but `true` hides the item; exceptions are logged.
 */
export type Visible = (item: CatalogItem, caller: CatalogCaller) => boolean;

type ItemType = CatalogItem['type'];

/** Returns whether callers may receive different items of a type; `undefined` as in {@link Catalog.isFiltered}. */
export function variesByCaller({ catalog, providers }: ServerState, type: ItemType): boolean | undefined {
  return providers.some((provider) => provider.variesByCaller) || catalog.isFiltered(type);
}

/**
 * The one rule that decides which items a caller can see. Lists, calls, completions and notifications apply it, so that a hidden item
 * has the same responses as an item that does not exist.
 */
export class Catalog {
  readonly #visible: Visible | undefined;
  readonly #logger: Logger;
  /** Types of which an item with scopes was seen, and those that were listed without one. */
  readonly #scoped = new Map<ItemType, boolean>();

  constructor(visible: Visible | undefined, logger: Logger) {
    this.#visible = visible;
    this.#logger = logger;
  }

  /** Whether callers may receive different lists; `undefined` before the first list of this type, and before the next one after a change. */
  isFiltered(type: ItemType): boolean | undefined {
    return this.#visible !== undefined || this.#scoped.get(type);
  }

  /** Learns from a list whether its items have scopes. */
  observe(type: ItemType, items: readonly ScopedItem[]): void {
    if (this.#scoped.get(type)) return;
    const hasScopes = items.some((item) => item?.mcp?.scopes !== undefined);
    this.#scoped.set(type, hasScopes);
  }

  /** Forgets that the items of a list had no scopes: the list has changed. */
  forget(type: ItemType): void {
    if (this.#scoped.get(type) === false) this.#scoped.delete(type);
  }

  /** Returns the items of a list that a caller can see, without the member that clients never receive. */
  filter<Item extends ScopedItem>(request: ServerRequest, type: ItemType, items: Item[]): Item[] {
    if (this.isFiltered(type) !== true) return items;
    // The cast: callers pass the items of the type.
    return items.flatMap((item) =>
      this.sees(request, { ...item, type } as unknown as CatalogItem) ? [withoutScopes(item)] : [],
    );
  }

  sees(request: ServerRequest, item: CatalogItem): boolean {
    if (this.isFiltered(item.type) !== true) return true;
    try {
      const scopes: unknown = item.mcp?.scopes;
      if (scopes !== undefined && !requireScopes(scopes).every((scope) => request.caller.scopes.includes(scope)))
        return false;
      return this.#visible === undefined || requireBoolean(this.#visible(item, request.hookContext));
    } catch (error) {
      const name = 'uri' in item ? item.uri : 'uriTemplate' in item ? item.uriTemplate : item.name;
      this.#logger.error(
        escapeForLog(`The ${item.type} '${name}' of MCPServer is hidden: ${toErrorMessage(error)}`),
        error,
      );
      return false;
    }
  }
}

/** @throws `TypeError` for anything but a list of scopes */
export function requireScopes(scopes: unknown): readonly string[] {
  if (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')) return scopes;
  throw new TypeError('mcp.scopes must be an array of strings.');
}

function requireBoolean(isVisible: unknown): boolean {
  if (typeof isVisible === 'boolean') return isVisible;
  // A rejection without a handler would end the process.
  if (isVisible instanceof Promise) isVisible.catch(() => {});
  throw new TypeError(`visible must return true or false, not ${typeof isVisible}; it cannot be asynchronous`);
}

function withoutScopes<Item extends ScopedItem>(item: Item): Item {
  if (!isObject(item) || item.mcp === undefined) return item;
  const { mcp: _, ...listed } = item;
  return listed as Item;
}
