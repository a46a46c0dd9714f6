import type { MCPServer } from '../../src/server/index.js';
import { eventually } from '../eventually.ts';
import { modern, toRequest } from './wire.ts';

export const tasksExtension = 'io.modelcontextprotocol/tasks';

export interface TaskCallerOptions {
  /** Identity of the caller. */
  authInfo?: object;
  /** Capabilities in addition to tasks. */
  capabilities?: object;
  /** Whether requests declare the tasks extension. Default `true`. */
  declares?: boolean;
}

// oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
export type Answer = { status: number; result: any; error: any };

/** A modern client without any help of a client library. Its requests go through `server.fetch()`. */
export class TaskCaller {
  readonly #server: MCPServer;
  readonly #options: TaskCallerOptions;
  #id = 0;

  constructor(server: MCPServer, options: TaskCallerOptions = {}) {
    this.#server = server;
    this.#options = options;
  }

  /** Sends a request; the response may be an event stream. */
  async open(
    method: string,
    params: Record<string, unknown> = {},
    more: Record<string, string> = {},
  ): Promise<Response> {
    const { authInfo, capabilities, declares = true } = this.#options;
    this.#id += 1;
    const clientCapabilities = { ...capabilities, ...(declares && { extensions: { [tasksExtension]: {} } }) };
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': clientCapabilities };
    const request = toRequest(modern(method, { ...params, _meta }, this.#id, more));
    return this.#server.fetch(request, { ...(authInfo && { authInfo }) });
  }

  async request(
    method: string,
    params: Record<string, unknown> = {},
    more: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await this.open(method, params, more);
    const text = await response.text();
    const last = text.startsWith('{') ? text : text.slice(text.lastIndexOf('data: ') + 6);
    const { result, error } = JSON.parse(last) as Answer;
    return { status: response.status, result, error };
  }

  call(name: string, args: object = {}, more: object = {}): Promise<Answer> {
    return this.request('tools/call', { name, arguments: args, ...more });
  }

  /** Returns the state of a task. */
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON that the server sent
  async get(taskId: string): Promise<any> {
    const { result, error } = await this.request('tasks/get', { taskId });
    if (error) throw new Error(`${error.code}: ${error.message}`);
    return result;
  }

  /** Calls a tool, and returns the id of its task. */
  async start(name = 'job', args: object = {}): Promise<string> {
    const { result, error } = await this.call(name, args);
    if (result?.resultType !== 'task') throw new Error(`No task, but ${JSON.stringify(result ?? error)}`);
    return result.taskId as string;
  }

  /** Waits for the end of a task, and returns its state. */
  ended(taskId: string): Promise<unknown> {
    return eventually(async () => {
      const task = await this.get(taskId);
      if (['completed', 'failed', 'cancelled'].includes(task.status)) return task as unknown;
      throw new Error(`The task is ${task.status}`);
    });
  }

  /** Waits for requests for input, and returns them by key. */
  asked(taskId: string): Promise<Record<string, object>> {
    return eventually(async () => {
      const { status, inputRequests } = await this.get(taskId);
      if (status === 'input_required' && Object.keys(inputRequests).length > 0)
        return inputRequests as Record<string, object>;
      throw new Error(`The task is ${status}`);
    });
  }

  /** Sends the name that a request for input asks for. */
  respond(taskId: string, key: string, name: unknown = 'Ada'): Promise<Answer> {
    const inputResponses = { [key]: { action: 'accept', content: { name } } };
    return this.request('tasks/update', { taskId, inputResponses });
  }
}
