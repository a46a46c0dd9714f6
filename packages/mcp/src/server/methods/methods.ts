import type { Method } from '../request.js';
import { callTool, taskOptionsOfCall } from './call-tool.js';
import { complete } from './completions.js';
import { getPrompt, listPrompts } from './prompts.js';
import { listResources, listResourceTemplates, readResource } from './resources.js';

const tools = { capability: 'tools' } as const;
const resources = { capability: 'resources' } as const;
const prompts = { capability: 'prompts' } as const;

/** Methods of both eras, by name. */
export const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['tools/list', { ...tools, answer: (request) => request.server.tools.list(request), hook: 'onList' }],
  ['tools/call', { ...tools, answer: callTool, allowsInput: true, taskOptions: taskOptionsOfCall }],
  ['resources/list', { ...resources, answer: listResources, hook: 'onList' }],
  ['resources/templates/list', { ...resources, answer: listResourceTemplates, hook: 'onList' }],
  ['resources/read', { ...resources, answer: readResource, allowsInput: true, hook: 'onReadResource' }],
  ['prompts/list', { ...prompts, answer: listPrompts, hook: 'onList' }],
  ['prompts/get', { ...prompts, answer: getPrompt, allowsInput: true, hook: 'onGetPrompt' }],
  ['completion/complete', { capability: 'completions', answer: complete }],
]);
