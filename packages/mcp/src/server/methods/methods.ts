import { Result } from '../../content.js';
import { requestMethods, type MethodFacts, type RequestMethod } from '../../protocol/methods.js';
import { methodNotFound } from '../../protocol/protocol-error.js';
import type { Handler, ServerRequest } from '../request.js';
import { callTool, taskOptionsOfCall } from './call-tool.js';
import { complete } from './completions.js';
import { discover } from './discover.js';
import { answerList } from './list-items.js';
import { getPrompt, listPrompts } from './prompts.js';
import { readResource } from './resources.js';
import { initialize, setLogLevel, subscribe, unsubscribe } from './session.js';
import { answerListen } from './subscriptions.js';
import { cancelTask, getTask, updateTask } from './tasks.js';

const handlers: Readonly<Record<RequestMethod, Handler>> = {
  initialize: { answer: initialize },
  ping: { answer: () => new Result('') },
  'logging/setLevel': { answer: setLogLevel },
  'resources/subscribe': { answer: subscribe },
  'resources/unsubscribe': { answer: unsubscribe },
  'server/discover': { answer: discover },
  'subscriptions/listen': { answer: answerListen },
  'tasks/get': { answer: getTask },
  'tasks/update': { answer: updateTask },
  'tasks/cancel': { answer: cancelTask },
  'tools/list': { answer: (request) => request.server.tools.list(request), hook: 'onList' },
  'tools/call': { answer: callTool, taskOptions: taskOptionsOfCall },
  'resources/list': { answer: (request) => answerList(request, 'resources/list'), hook: 'onList' },
  'resources/templates/list': { answer: (request) => answerList(request, 'resources/templates/list'), hook: 'onList' },
  'resources/read': { answer: readResource, hook: 'onReadResource' },
  'prompts/list': { answer: listPrompts, hook: 'onList' },
  'prompts/get': { answer: getPrompt, hook: 'onGetPrompt' },
  'completion/complete': { answer: complete },
};

/** A method with its handler. */
export type Method = Handler & MethodFacts;

const methods: ReadonlyMap<string, Method> = new Map(
  // The cast: the keys of the record.
  (Object.keys(handlers) as RequestMethod[]).map((name) => [name, { ...requestMethods[name], ...handlers[name] }]),
);

/**
 * Returns the method that a request names.
 *
 * @throws ProtocolError -32601 when its era or this server does not have the method
 */
export function requireMethod({ method, era, server }: ServerRequest): Method {
  const found = methods.get(method);
  const isServed =
    found &&
    (found.era === 'both' || found.era === era) &&
    (found.capability === undefined || server.capabilities[found.capability]);
  if (!isServed) throw methodNotFound(method, era === 'modern' ? 404 : 200);
  return found;
}
