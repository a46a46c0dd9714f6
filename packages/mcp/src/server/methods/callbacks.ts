import { Result } from '../../content.js';
import { toPromptMeta, type Prompt, type PromptMessage } from '../../prompt.js';
import { isObject } from '../../protocol/json-rpc.js';
import { requestMethods } from '../../protocol/methods.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import type { CallbackContext, ServerConfig } from '../definition/server-config.js';
import { refuseResult } from '../failures.js';
import type { Provider, RequestedList, ResourceMatch } from '../provider.js';
import type { ServerRequest } from '../request.js';
import { parseCompletion, toCompletion } from './completions.js';
import { parsePromptRequest } from './prompts.js';
import { areFiltered, resourceNotFound } from './resources.js';

/** Returns the provider of the resources and prompts of the application. It owns the items that no other provider owns. */
export function createCallbacks({ resources, prompts }: ServerConfig): Provider {
  /** Callbacks of lists, by the name of their option. Without a callback, and where it is optional, a list is empty. */
  const lists: Readonly<Record<RequestedList, readonly [string, (context: CallbackContext) => unknown]>> = {
    'resources/list': ['resources.listResources', (context) => (resources ? resources.listResources(context) : [])],
    'resources/templates/list': [
      'resources.resourceTemplates',
      async (context) => (await resources?.resourceTemplates?.(context)) ?? [],
    ],
    'prompts/list': ['prompts.listPrompts', (context) => (prompts ? prompts.listPrompts(context) : [])],
  };

  const read = async (request: ServerRequest, { uri, variables, mimeType }: ResourceMatch): Promise<Result> => {
    const content = await resources?.getResourceContent({ uri, variables, ...request.callbackContext });
    if (content === undefined || content === null) throw resourceNotFound(uri);
    const contents = [content].flat().map((part) => toContents(part, uri, mimeType));
    return Result.of({ contents }, { isPrivate: areFiltered(request.server) === true });
  };

  const getPrompt = async (request: ServerRequest, prompt: Prompt): Promise<Result> => {
    const { name, version: asked, args } = parsePromptRequest(request);
    requireArguments(prompt, args);
    // The version that the callback takes by default may be hidden.
    const version = asked ?? (request.server.catalog.isFiltered('prompt') ? prompt.version : undefined);
    const options = { name, ...(version !== undefined && { version }), args, ...request.callbackContext };
    return toPromptResult(await prompts?.getPromptMessages?.(options), prompt);
  };

  const complete = async (request: ServerRequest): Promise<Result> => {
    const { prompt, uriTemplate, name, value, resolved } = parseCompletion(request);
    const asked = { value, resolved, ...request.callbackContext };
    const found: unknown =
      prompt === undefined
        ? await resources?.completeVariable?.({ uriTemplate, variable: name, ...asked })
        : await prompts?.completeArgument?.({ name: prompt, argument: name, ...asked });
    if (found === undefined || found === null) return toCompletion();
    const isValid = Array.isArray(found) && found.every((text) => typeof text === 'string');
    return isValid ? toCompletion(found) : refuseResult('The completion callback', 'an array of strings');
  };

  return {
    capabilities: {
      ...(resources && { resources: { subscribe: true, listChanged: true } }),
      ...(prompts && { prompts: { listChanged: true } }),
      ...((resources?.completeVariable || prompts?.completeArgument) && { completions: {} }),
    },
    variesByCaller: false,
    async list(request, method) {
      const [option, run] = lists[method];
      const { itemType, title } = requestMethods[method];
      const listed = await run(request.callbackContext);
      if (!Array.isArray(listed)) refuseResult(option, `an array of ${title.toLowerCase()}`);
      request.server.catalog.observe(itemType, listed);
      return listed;
    },
    owns: () => true,
    answer: async (request, item, match) => {
      if (match) return read(request, match);
      // The cast: the item of the request is a prompt.
      return request.method === 'prompts/get' ? getPrompt(request, item as Prompt) : complete(request);
    },
  };
}

function toContents(content: unknown, uri: string, mimeType: string | undefined): object {
  if (isObject(content)) {
    const { text, blob, _meta } = content;
    const type = content['mimeType'] ?? mimeType;
    const head = {
      uri: content['uri'] ?? uri,
      ...(typeof type === 'string' && { mimeType: type }),
      ...(isObject(_meta) && { _meta }),
    };
    if (typeof text === 'string') return { ...head, text };
    if (typeof blob === 'string') return { ...head, blob };
    if (blob instanceof Uint8Array) return { ...head, blob: toBase64(blob) };
  }
  return refuseResult('resources.getResourceContent', '{ text } or { blob }');
}

const chunkSize = 0x80_00;

/** Converts in pieces, because the number of arguments of a call is limited. */
function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += chunkSize)
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkSize));
  return btoa(binary);
}

function requireArguments({ arguments: declared }: Prompt, args: Record<string, unknown>): void {
  const missing = declared?.find(({ name, required }) => required === true && !Object.hasOwn(args, name));
  if (missing) throw invalidParams(`Missing required argument: ${missing.name}`);
}

/** Accepts both common shapes: the messages alone, and the messages with their prompt. */
function toPromptResult(result: unknown, prompt: Prompt): Result {
  const messages: unknown = isObject(result) ? result['messages'] : result;
  if (!Array.isArray(messages) || !messages.every(isMessage)) {
    return refuseResult('prompts.getPromptMessages', 'an array of messages, or { prompt, messages }');
  }
  const { description, ...about } = {
    ...prompt,
    ...(isObject(result) && isObject(result['prompt']) && result['prompt']),
  };
  const members = { ...(typeof description === 'string' && { description }), messages };
  return Result.of(members, { meta: toPromptMeta(about) });
}

function isMessage(message: unknown): message is PromptMessage {
  if (!isObject(message) || !isObject(message['content'])) return false;
  return (
    (message['role'] === 'user' || message['role'] === 'assistant') && typeof message['content']['type'] === 'string'
  );
}
