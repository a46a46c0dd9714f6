import { isObject } from '../../protocol/json-rpc.js';
import { invalidParams } from '../../protocol/protocol-error.js';
import { promptVersionKey, toPromptMeta, type Prompt } from '../../prompt.js';
import type { Result } from '../../content.js';
import { runCallback } from '../failures.js';
import { providerOf } from '../provider.js';
import type { ServerRequest } from '../request.js';
import { answerList, listVisibleItems } from './list-items.js';

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
  const { name, version } = parsePromptRequest(request);
  const prompt = findPrompt(await listVisibleItems(request, 'prompts/list'), name, version);
  return runCallback(server, `The prompt ${name}`, () => providerOf(server, prompt).answer(request, prompt));
}

/**
 * Returns the prompt of a completion. A prompt that is not in the list of the caller is refused.
 *
 * @throws ProtocolError -32602
 */
export async function requireVisiblePrompt(request: ServerRequest, name: string): Promise<Prompt | undefined> {
  if (!request.server.capabilities.prompts) return undefined;
  return findPrompt(await listVisibleItems(request, 'prompts/list'), name);
}

/** @throws ProtocolError -32602 for an invalid request */
export function parsePromptRequest({ params, arguments: args = {} }: ServerRequest): {
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
