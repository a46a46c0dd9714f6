import type { EncodedResult } from '../../content.js';
import type { ServerRequest } from '../request.js';
import type { ServerDefinition } from '../server-definition.js';
import { callTool } from './call-tool.js';
import { complete } from './completions.js';
import { getPrompt, listPrompts } from './prompts.js';
import { listResources, listResourceTemplates, readResource } from './resources.js';

/** A method that both eras serve. */
export interface Method {
  readonly answer: (request: ServerRequest) => Promise<EncodedResult>;
  /** Whether its handler may send requests to a modern client, with an `input_required` result. */
  readonly allowsInput?: true;
}

const toolMethods: ReadonlyMap<string, Method> = new Map([['tools/call', { answer: callTool, allowsInput: true }]]);

const resourceMethods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['resources/list', { answer: listResources }],
  ['resources/templates/list', { answer: listResourceTemplates }],
  ['resources/read', { answer: readResource, allowsInput: true }],
]);

const promptMethods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['prompts/list', { answer: listPrompts }],
  ['prompts/get', { answer: getPrompt, allowsInput: true }],
]);

const completionMethods: ReadonlyMap<string, Method> = new Map([['completion/complete', { answer: complete }]]);

/** Returns a method that both eras serve; `undefined` when the server does not offer it. */
export function findMethod({ capabilities }: ServerDefinition, name: string): Method | undefined {
  return (
    toolMethods.get(name) ??
    (capabilities.resources && resourceMethods.get(name)) ??
    (capabilities.prompts && promptMethods.get(name)) ??
    (capabilities.completions && completionMethods.get(name))
  );
}
