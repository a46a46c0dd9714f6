import { readFileSync } from 'node:fs';
import { QuiverError, toErrorMessage } from '@quiver/core';
import { replaceFile } from '@quiver/core/internal';
import { sortKeys } from '@quiver/mcp/internal';
import { isObject, type ListMethod, type Params, type RpcResponse } from '../json.js';

/** Response of a server to a request, as a cassette keeps it. */
export interface RecordedResponse extends RpcResponse {
  /** Requests that the server sent before it responded. */
  asked?: { method: string; params: Params }[];
}

/** A request with its responses, in order. */
export interface RecordedRequest {
  method: string;
  params: Params;
  responses: RecordedResponse[];
}

/** Response of the server to a handshake. */
export type RecordedServer = Params;

/** The lists of a server that has just been connected, by method: all pages, or the error in place of them. */
export type RecordedDefinitions = Partial<Record<ListMethod, RpcResponse>>;

interface RecordingFile {
  version: number;
  server: RecordedServer;
  /** Capabilities of the client: the definitions may depend on them. */
  capabilities?: Params | undefined;
  definitions?: RecordedDefinitions | undefined;
  requests: RecordedRequest[];
}

const version = 1;

/** Content of a cassette: requests by method, name and arguments. */
export class Recording {
  server: RecordedServer | undefined;
  capabilities: Params | undefined;
  definitions: RecordedDefinitions | undefined;
  readonly #path: string;
  readonly #requests = new Map<string, RecordedRequest>();
  /** Responses that have been replayed, by request. */
  readonly #replayed = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads a recording from its file. @throws `CASSETTE_INVALID` */
  static read(path: string): Recording {
    const { server, capabilities, definitions, requests } = parseFile(path);
    const recording = new Recording(path);
    recording.server = server;
    recording.capabilities = capabilities;
    recording.definitions = definitions;
    for (const request of requests) recording.#requests.set(keyOf(request.method, request.params), request);
    return recording;
  }

  get requests(): RecordedRequest[] {
    return [...this.#requests.values()];
  }

  /** Adds a response, unless it repeats the last one. */
  add(method: string, params: Params, response: RecordedResponse): void {
    const key = keyOf(method, params);
    const request = this.#requests.get(key) ?? { method, params: withoutMeta(params), responses: [] };
    this.#requests.set(key, request);
    if (!isSame(request.responses.at(-1), response)) request.responses.push(response);
  }

  /** Returns the next response to a request; after the last one, the last one again. Definitions need not have been requested. */
  next(method: string, params: Params): RecordedResponse | undefined {
    const key = keyOf(method, params);
    const { responses } = this.#requests.get(key) ?? { responses: [] };
    const count = this.#replayed.get(key) ?? 0;
    this.#replayed.set(key, count + 1);
    if (responses.length > 0) return responses[Math.min(count, responses.length - 1)];
    const isFirstPage = params['cursor'] === undefined;
    return isFirstPage ? this.definitions?.[method as ListMethod] : undefined;
  }

  /** Writes the file. Its order does not depend on that of the requests. */
  write(): Promise<void> {
    const requests = [...this.#requests].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, request]) => request);
    const { server, capabilities, definitions } = this;
    const text = `${JSON.stringify({ version, server, capabilities, definitions, requests }, undefined, 2)}\n`;
    this.#writing = this.#writing.catch(() => {}).then(() => replaceFile(this.#path, text));
    return this.#writing;
  }
}

function parseFile(path: string): RecordingFile {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = toErrorMessage(error);
    throw new QuiverError(
      'CASSETTE_INVALID',
      `Cannot read the cassette ${path}: ${reason}. Record it with mode 'record'.`,
      {
        cause: error,
      },
    );
  }
  const file = (isObject(value) ? value : {}) as Partial<RecordingFile>;
  const { version: found, server, capabilities, definitions, requests } = file;
  const areDefinitions =
    definitions === undefined || (isObject(definitions) && Object.values(definitions).every(isObject));
  if (found === version && isObject(server) && areDefinitions && Array.isArray(requests) && requests.every(isRequest))
    return { version, server, capabilities: isObject(capabilities) ? capabilities : {}, definitions, requests };
  throw new QuiverError(
    'CASSETTE_INVALID',
    `${path} is not a cassette of version ${version}. Record it with mode 'record'.`,
  );
}

function isRequest(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { method, params, responses } = value;
  return typeof method === 'string' && isObject(params) && Array.isArray(responses) && responses.every(isObject);
}

/** Returns the key of a request: its method, and its parameters in any order without `_meta`. */
function keyOf(method: string, params: Params): string {
  return `${method} ${JSON.stringify(sortKeys(withoutMeta(params)))}`;
}

function withoutMeta({ _meta, ...params }: Params): Params {
  return params;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sortKeys(one)) === JSON.stringify(sortKeys(other));
}
