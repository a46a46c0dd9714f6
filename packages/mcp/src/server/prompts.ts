import { isObject, type Params } from '../protocol/json-rpc.js';
import { invalidParams } from '../protocol/protocol-error.js';
import { promptVersionKey, toPromptMeta, type Prompt, type PromptMessage } from '../prompt.js';
import { createCallbackContext, type CallbackContext } from './callback-context.js';
import { refuseResult, toCallbackError } from './failure-report.js';
import { pageOf, type ListPage } from './list-page.js';
import type { RequestScope } from './request-scope.js';
import type { ServerDefinition } from './server-definition.js';

/** Result of `prompts/get`. */
export interface PromptResult {
  description?: string;
  messages: PromptMessage[];
  _meta?: Record<string, unknown>;
}

/** `prompts/list`. */
export async function listPrompts(server: ServerDefinition, scope: RequestScope): Promise<ListPage<object>> {
  const prompts = await promptsFor(server, createCallbackContext(scope));
  const { items, nextCursor } = pageOf(prompts, ({ name, version }) => `${name}\n${version ?? ''}`, {
    params: scope.params,
    pageSize: server.pageSize,
  });
  return { items: items.map(toListed), nextCursor };
}

/** The official SDKs drop members they do not know, on both sides; `_meta` is kept. */
function toListed(prompt: Prompt): object {
  const _meta = toPromptMeta(prompt);
  return _meta ? { ...prompt, _meta } : prompt;
}

/**
 * `prompts/get`.
 *
 * @throws ProtocolError -32602 for an unknown prompt, version or a missing argument
 */
export async function getPrompt(server: ServerDefinition, scope: RequestScope): Promise<PromptResult> {
  const { name, version, args } = parseRequest(scope.params);
  const context = createCallbackContext(scope);
  const prompt = findPrompt(await promptsFor(server, context), name, version);
  requireArguments(prompt, args);
  try {
    const { getPromptMessages = () => refuseResult('prompts.getPromptMessages', 'messages: it is not there') } =
      server.prompts ?? {};
    const result: unknown = await getPromptMessages({
      name,
      ...(version !== undefined && { version }),
      args,
      ...context,
    });
    return toPromptResult(result, prompt);
  } catch (error) {
    throw toCallbackError(server.failures, `The prompt ${name}`, error);
  }
}

function parseRequest(params: Params | undefined): { name: string; version?: string; args: Record<string, unknown> } {
  const { name, arguments: args = {}, _meta } = params ?? {};
  if (typeof name !== 'string') throw invalidParams('prompts/get needs the name of a prompt.');
  if (!isObject(args)) throw invalidParams(`The arguments of ${name} must be an object.`);
  for (const [argument, value] of Object.entries(args)) {
    if (typeof value !== 'string') throw invalidParams(`The argument ${argument} of ${name} must be a string.`);
  }
  const version = (isObject(_meta) ? _meta[promptVersionKey] : undefined) ?? params?.['version'];
  return { name, args, ...(typeof version === 'string' && { version }) };
}

/** The first of that name, or the one of that version. */
function findPrompt(prompts: readonly Prompt[], name: string, version?: string): Prompt {
  const named = prompts.filter((prompt) => prompt.name === name);
  const found = version === undefined ? named[0] : named.find((prompt) => prompt.version === version);
  if (found) return found;
  if (named.length === 0) throw invalidParams(`Prompt not found: ${name}`);
  const versions = named.map((prompt) => prompt.version ?? '(none)').join(', ');
  throw invalidParams(`Prompt not found: ${name} has no version ${version}; it has ${versions}`);
}

function requireArguments({ arguments: declared }: Prompt, args: Record<string, unknown>): void {
  for (const { name, required } of declared ?? []) {
    if (required === true && !Object.hasOwn(args, name)) throw invalidParams(`Missing required argument: ${name}`);
  }
}

async function promptsFor({ prompts, failures }: ServerDefinition, context: CallbackContext): Promise<Prompt[]> {
  try {
    const listed = await prompts?.listPrompts(context);
    return Array.isArray(listed) ? listed : refuseResult('prompts.listPrompts', 'an array of prompts');
  } catch (error) {
    throw toCallbackError(failures, 'Listing prompts', error);
  }
}

/** Two shapes are common: the messages alone, and the messages with their prompt. */
function toPromptResult(result: unknown, prompt: Prompt): PromptResult {
  const messages: unknown = isObject(result) ? result['messages'] : result;
  if (!Array.isArray(messages) || !messages.every(isMessage)) {
    return refuseResult('prompts.getPromptMessages', 'an array of messages, or { prompt, messages }');
  }
  const { description, ...about } = {
    ...prompt,
    ...(isObject(result) && isObject(result['prompt']) && result['prompt']),
  };
  const _meta = toPromptMeta(about);
  return { ...(typeof description === 'string' && { description }), messages, ...(_meta && { _meta }) };
}

function isMessage(message: unknown): message is PromptMessage {
  if (!isObject(message) || !isObject(message['content'])) return false;
  return (
    (message['role'] === 'user' || message['role'] === 'assistant') && typeof message['content']['type'] === 'string'
  );
}
