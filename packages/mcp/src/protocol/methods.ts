import type { McpTraceEvent } from '@quiver/core';
import type { Era } from './constants.js';
import type { Params } from './json-rpc.js';
import type { SchemaName } from './schemas.js';
import type { ServerCapabilities } from './types.js';

/** Method that requests one page of a list. */
export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';

/** Lists whose changes a server reports, by the capability of their methods. */
export type ListKind = 'tools' | 'resources' | 'prompts';

interface ListChange<Kind extends ListKind> {
  readonly event: `${Kind}_list_changed`;
  readonly notification: `notifications/${Kind}/list_changed`;
  /** Member of the filter of `subscriptions/listen`. */
  readonly filter: `${Kind}ListChanged`;
}

export const listKinds: readonly ListKind[] = ['tools', 'resources', 'prompts'];

// The cast: the names of each kind.
export const listChanges = Object.fromEntries(
  listKinds.map((kind) => [
    kind,
    {
      event: `${kind}_list_changed`,
      notification: `notifications/${kind}/list_changed`,
      filter: `${kind}ListChanged`,
    },
  ]),
) as { readonly [Kind in ListKind]: ListChange<Kind> };

/** Method whose results may be cached by clients. */
export type CacheableMethod = ListMethod | 'resources/read' | 'server/discover';

/** Method of a request that a client sends. Each has a row in {@link requestMethods}, and a handler in `server/methods/`. */
export type RequestMethod =
  | CacheableMethod
  | 'initialize'
  | 'ping'
  | 'logging/setLevel'
  | 'resources/subscribe'
  | 'resources/unsubscribe'
  | 'subscriptions/listen'
  | 'tasks/get'
  | 'tasks/update'
  | 'tasks/cancel'
  | 'tools/call'
  | 'prompts/get'
  | 'completion/complete';

/** Facts about a method, for both sides. */
export interface MethodFacts {
  readonly era: Era | 'both';
  /** Capability of the server that the method belongs to. */
  readonly capability: keyof ServerCapabilities | undefined;
  /** Schema of the result; `undefined` where the reader of the result checks it. */
  readonly resultSchema: SchemaName | undefined;
  /** Array that every result of the method contains. */
  readonly resultMember?: string;
  /** Member of the parameters that the header `Mcp-Name` repeats. */
  readonly nameSource?: 'name' | 'uri' | 'taskId';
  /** Kind of the item that the request names. */
  readonly target?: 'tool' | 'prompt' | 'resource';
  /** Whether the result may require input. Such requests declare a log level, and the server may send requests meanwhile. */
  readonly isInteractive?: true;
  /** Whether clients may cache the result: it has a cache hint. */
  readonly isCacheable?: true;
  /** Whether the result depends on the tools of the server. */
  readonly needsTools?: true;
}

interface ListFacts extends MethodFacts {
  readonly capability: ListKind;
  readonly resultMember: string;
  /** Type of the items, as `visible` receives it. */
  readonly itemType: 'tool' | 'resource' | 'resourceTemplate' | 'prompt';
  /** Members that identify an item within its list. */
  readonly key: readonly string[];
  /** Title in messages. */
  readonly title: string;
}

type FactsOf<Method extends RequestMethod> = Method extends ListMethod ? ListFacts : MethodFacts;

const both = { era: 'both' } as const;
const legacy = { era: 'legacy', capability: undefined, resultSchema: undefined } as const;
const modern = { era: 'modern', capability: undefined, resultSchema: undefined } as const;
const subscription = { ...legacy, capability: 'resources', target: 'resource' } as const;
const ofTask = { ...modern, nameSource: 'taskId' } as const;
const cacheable = { era: 'both', isCacheable: true } as const;

export const requestMethods: {
  readonly [Method in RequestMethod]: FactsOf<Method> &
    (Method extends CacheableMethod ? { isCacheable: true } : object);
} = {
  initialize: legacy,
  ping: legacy,
  'logging/setLevel': legacy,
  'resources/subscribe': subscription,
  'resources/unsubscribe': subscription,
  'subscriptions/listen': modern,
  'tasks/get': ofTask,
  'tasks/update': ofTask,
  'tasks/cancel': ofTask,
  // Without schema: an invalid tool does not affect the others.
  'tools/list': {
    ...cacheable,
    capability: 'tools',
    resultSchema: undefined,
    resultMember: 'tools',
    itemType: 'tool',
    key: ['name'],
    title: 'Tools',
    needsTools: true,
  },
  'tools/call': {
    ...both,
    capability: 'tools',
    resultSchema: 'CallToolResultSchema',
    nameSource: 'name',
    target: 'tool',
    isInteractive: true,
    needsTools: true,
  },
  'resources/list': {
    ...cacheable,
    capability: 'resources',
    resultSchema: 'ListResourcesResultSchema',
    resultMember: 'resources',
    itemType: 'resource',
    key: ['uri'],
    title: 'Resources',
  },
  'resources/templates/list': {
    ...cacheable,
    capability: 'resources',
    resultSchema: 'ListResourceTemplatesResultSchema',
    resultMember: 'resourceTemplates',
    itemType: 'resourceTemplate',
    key: ['uriTemplate'],
    title: 'Resource templates',
  },
  'resources/read': {
    ...cacheable,
    capability: 'resources',
    resultSchema: 'ReadResourceResultSchema',
    resultMember: 'contents',
    nameSource: 'uri',
    target: 'resource',
    isInteractive: true,
  },
  'prompts/list': {
    ...cacheable,
    capability: 'prompts',
    resultSchema: 'ListPromptsResultSchema',
    resultMember: 'prompts',
    itemType: 'prompt',
    key: ['name', 'version'],
    title: 'Prompts',
  },
  'prompts/get': {
    ...both,
    capability: 'prompts',
    resultSchema: 'GetPromptResultSchema',
    resultMember: 'messages',
    nameSource: 'name',
    target: 'prompt',
    isInteractive: true,
  },
  'completion/complete': { ...both, capability: 'completions', resultSchema: 'CompleteResultSchema' },
  'server/discover': { ...modern, isCacheable: true, needsTools: true },
};

/** Returns the facts about a method; `undefined` for a method that is not a request of clients. */
export function findMethod(method: string): MethodFacts | undefined {
  return Object.hasOwn(requestMethods, method) ? requestMethods[method as RequestMethod] : undefined;
}

export const listMethods: readonly ListMethod[] = (Object.keys(requestMethods) as ListMethod[]).filter(
  (method) => 'itemType' in requestMethods[method],
);

export const cacheableMethods: readonly CacheableMethod[] = (Object.keys(requestMethods) as CacheableMethod[]).filter(
  (method) => requestMethods[method].isCacheable,
);

/** Requests of servers, notifications of clients, and requests of the protocol that Quiver does not answer. */
const otherMethods: ReadonlySet<string> = new Set([
  'roots/list',
  'sampling/createMessage',
  'elicitation/create',
  'tasks/list',
  'tasks/result',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
]);

/** Returns the members of an event that the method and the parameters of its message decide. */
export function describeMethod(
  method: string,
  params: Params | undefined,
): Pick<McpTraceEvent, 'isKnownMethod' | 'target'> {
  const facts = findMethod(method);
  const kind = facts?.target;
  const name = params?.[kind === 'resource' ? 'uri' : 'name'];
  return {
    isKnownMethod: facts !== undefined || otherMethods.has(method),
    target: kind && { kind, name: typeof name === 'string' ? name : undefined },
  };
}
