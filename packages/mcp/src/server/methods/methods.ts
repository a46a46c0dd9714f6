import { Result } from '../../content.js';
import { findMethod, requestMethods, type MethodFacts, type RequestMethod } from '../../protocol/methods.js';
import { methodNotFound } from '../../protocol/protocol-error.js';
import type { ServerState } from '../definition/server-state.js';
import type { Handler, ServerRequest } from '../request.js';
import { callTool, continuationOfCall } from './call-tool.js';
import { complete } from './completions.js';
import { answerList } from './list-items.js';
import { getPrompt, listPrompts } from './prompts.js';
import { readResource } from './resources.js';
import { initialize, setLogLevel, subscribe, unsubscribe } from './session.js';
import { answerListen } from './subscriptions.js';
import { MODERN_VERSION } from '../../protocol/constants.js';
import type { ServerCapabilities } from '../../protocol/types.js';
import { variesByCaller } from '../tools/catalog.js';

/** Methods of extensions of the protocol come from features. */
const handlers: Readonly<Record<Exclude<RequestMethod, `tasks/${string}`>, Handler>> = {
  initialize: { answer: initialize },
  ping: { answer: async () => Result.of({}) },
  'logging/setLevel': { answer: setLogLevel },
  'resources/subscribe': { answer: subscribe },
  'resources/unsubscribe': { answer: unsubscribe },
  'server/discover': { answer: discover },
  'subscriptions/listen': { answer: answerListen },
  'tools/list': { answer: async (request) => request.server.tools.list(request), hook: 'onList' },
  'tools/call': { answer: callTool, continuation: continuationOfCall },
  'resources/list': { answer: (request) => answerList(request, 'resources/list'), hook: 'onList' },
  'resources/templates/list': { answer: (request) => answerList(request, 'resources/templates/list'), hook: 'onList' },
  'resources/read': { answer: readResource, hook: 'onReadResource' },
  'prompts/list': { answer: listPrompts, hook: 'onList' },
  'prompts/get': { answer: getPrompt, hook: 'onGetPrompt' },
  'completion/complete': { answer: complete },
};

export type Method = Handler & MethodFacts;

const methods: ReadonlyMap<string, Method> = new Map(
  // The cast: the keys of the record.
  (Object.keys(handlers) as (keyof typeof handlers)[]).map((name) => [
    name,
    { ...requestMethods[name], ...handlers[name] },
  ]),
);

function findFurther({ features }: ServerState, name: string): Method | undefined {
  const facts = findMethod(name);
  if (!facts) return undefined;
  for (const { methods = {} } of features) {
    // The cast: a method of the protocol.
    const answer = methods[name as RequestMethod];
    if (answer) return { ...facts, answer };
  }
  return undefined;
}

/**
 * Returns the method that a request names.
 *
 * @throws ProtocolError -32601 when its era or this server does not have the method
 */
export function requireMethod({ method, era, server }: ServerRequest): Method {
  const found = methods.get(method) ?? findFurther(server, method);
  const isServed =
    found &&
    (found.era === 'both' || found.era === era) &&
    (found.capability === undefined || server.capabilities[found.capability]);
  if (!isServed) throw methodNotFound(method, era === 'modern' ? 404 : 200);
  return found;
}

/** Answers `server/discover`. */
async function discover(request: ServerRequest): Promise<Result> {
  const { instructions } = request.server;
  const capabilities = capabilitiesOf(request);
  const members = { supportedVersions: [MODERN_VERSION], capabilities, instructions };
  return Result.of(members, { isPrivate: variesByCaller(request.server, 'tool') === true });
}

/** Returns the capabilities of a server, with the extensions of the protocol that its features declare to the caller. */
function capabilitiesOf(request: ServerRequest): ServerCapabilities {
  const { capabilities, features } = request.server;
  const extensions = features.flatMap((feature) => feature.extensionFor?.(request) ?? []);
  if (extensions.length === 0) return capabilities;
  return { ...capabilities, extensions: Object.fromEntries(extensions.map((name) => [name, {}])) };
}
