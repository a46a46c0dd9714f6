import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import { promptVersionKey, toPromptMeta, type Prompt, type PromptMessage } from '../../prompt.js';
import { Result } from '../../content.js';
import { refuseResult, runCallback } from '../failures.js';
import { providerOf } from '../provider.js';
import type { ServerRequest } from '../request.js';
import { answerList, listVisibleItems } from './list-items.js';

/** Answers `prompts/list`. */
export function listPrompts(request: ServerRequest): Promise<Result> {
  return answerList(request, 'prompts/list', toListed);
}

/** The official SDKs drop members they do not know, on both sides; `_meta` is kept. */
function toListed(prompt: Prompt): Prompt {
  const _meta = toPromptMeta(prompt);
  return _meta ? { ...prompt, _meta } : prompt;
}

/**
 * Answers `prompts/get`.
 *
 * @throws ProtocolError -32602 for an unknown prompt, version or a missing argument
 */
export async function getPrompt(request: ServerRequest): Promise<Result> {
  const { server } = request;
  const { name, version: asked, args } = parseRequest(request);
  const prompt = findPrompt(await listVisibleItems(request, 'prompts/list'), name, asked);
  const provider = providerOf(server, prompt);
  if (provider) return runCallback(server, `The prompt ${name}`, () => provider.answer(request, prompt));
  // The version that the callback takes by default may be hidden.
  const version = asked ?? (server.catalog.isFiltered('prompt') ? prompt.version : undefined);
  requireArguments(prompt, args);
  return runCallback(server, `The prompt ${name}`, async () => {
    const options = { name, ...(version !== undefined && { version }), args, ...request.callbackContext };
    return toPromptResult(await server.prompts?.getPromptMessages?.(options), prompt);
  });
}

/**
 * Returns the prompt of a completion. A prompt that is not in the list of the caller is refused.
 *
 * @throws ProtocolError -32602
 */
export async function requireVisiblePrompt(request: ServerRequest, name: string): Promise<Prompt | undefined> {
  const { prompts, providers } = request.server;
  return prompts || providers.length > 0
    ? findPrompt(await listVisibleItems(request, 'prompts/list'), name)
    : undefined;
}

function parseRequest({ params, arguments: args = {} }: ServerRequest): {
  name: string;
  version?: string;
  args: Record<string, unknown>;
} {
  const { name, _meta } = params ?? {};
  if (typeof name !== 'string') throw invalidParams('prompts/get needs the name of a prompt.');
  if (!isObject(args)) throw invalidParams(`The arguments of ${name} must be an object.`);
  for (const [argument, value] of Object.entries(args)) {
    if (typeof value !== 'string') throw invalidParams(`The argument ${argument} of ${name} must be a string.`);
  }
  const version = (isObject(_meta) ? _meta[promptVersionKey] : undefined) ?? params?.['version'];
  return { name, args, ...(typeof version === 'string' && { version }) };
}

/** Returns the first prompt of the name, or the one with the version. */
function findPrompt(prompts: readonly Prompt[], name: string, version?: string): Prompt {
  const named = prompts.filter((prompt) => prompt.name === name);
  const found = version === undefined ? named[0] : named.find((prompt) => prompt.version === version);
  if (found) return found;
  if (named.length === 0) throw invalidParams(`Prompt not found: ${name}`);
  const versions = named.map((prompt) => prompt.version ?? '(none)').join(', ');
  throw invalidParams(`Prompt not found: ${name} has no version ${version}; it has ${versions}`);
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
