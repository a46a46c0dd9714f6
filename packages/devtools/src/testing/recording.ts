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

/** The lists of a server that has just been connected, by method: all pages, or the error in place of them. */
export type RecordedDefinitions = Partial<Record<ListMethod, RpcResponse>>;

interface RecordingFile {
  version: number;
  /** Response of the server to a handshake. */
  server: Params;
  /** Capabilities of the client: the definitions may depend on them. */
  capabilities?: Params | undefined;
  definitions?: RecordedDefinitions | undefined;
  requests: RecordedRequest[];
}

const version = 1;

/** Content of a cassette: requests by method, name and arguments. */
export class Recording {
  server: Params | undefined;
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
    const { requests, version: _version, ...lists } = parseFile(path);
    const recording = Object.assign(new Recording(path), lists);
    for (const request of requests) recording.#requests.set(keyOf(request.method, request.params), request);
    return recording;
  }

  get requests(): RecordedRequest[] {
    return [...this.#requests.values()];
  }

  add(method: string, params: Params, response: RecordedResponse): void {
    const key = keyOf(method, params);
    const request = this.#requests.get(key) ?? { method, params, responses: [] };
    this.#requests.set(key, request);
    request.responses.push(response);
  }

  /** Returns the next response to a request; after the last one, the last one again. Definitions need not have been requested. */
  next(method: string, params: Params): RecordedResponse | undefined {
    const key = keyOf(method, params);
    const count = this.#replayed.get(key) ?? 0;
    this.#replayed.set(key, count + 1);
    const { responses = [] } = this.#requests.get(key) ?? {};
    const isFirstPage = params['cursor'] === undefined;
    return responses[count] ?? responses.at(-1) ?? (isFirstPage ? this.definitions?.[method as ListMethod] : undefined);
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
  const invalid = (problem: string, cause?: unknown): QuiverError =>
    new QuiverError('CASSETTE_INVALID', `Cannot use the cassette ${path}: ${problem}. Record it with mode 'record'.`, {
      cause,
    });
  let file: Partial<RecordingFile> | null;
  try {
    file = JSON.parse(readFileSync(path, 'utf8')) as typeof file;
  } catch (error) {
    throw invalid(toErrorMessage(error), error);
  }
  const { version: found, server, definitions = {}, requests } = file ?? {};
  const isValid =
    [server, definitions, ...Object.values(definitions)].every(isObject) &&
    Array.isArray(requests) &&
    requests.every(isRequest);
  if (found !== version || !isValid) throw invalid(`it is not a cassette of version ${version}`);
  return file as RecordingFile;
}

function isRequest(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { method, params, responses } = value;
  return typeof method === 'string' && isObject(params) && Array.isArray(responses) && responses.every(isObject);
}

/** Returns the key of a request: its method, and its parameters in any order. */
function keyOf(method: string, params: Params): string {
  return `${method} ${JSON.stringify(sortKeys(params))}`;
}
