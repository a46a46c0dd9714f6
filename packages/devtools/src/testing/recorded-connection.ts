import { isQuiverError, toErrorMessage } from '@quiver/core';
import type { MastraMCPServerDefinition } from '@quiver/mcp/client';
import {
  type Engine,
  type EngineRequestOptions,
  type JsonRpcResponse,
  LEGACY_VERSIONS,
  type Params,
  ProtocolError,
  RemoteServer,
  errorCodes,
  fetchPages,
  isObject,
  listMethods,
  requestMethods,
} from '@quiver/mcp/internal';
import type { ListMethod } from '@quiver/mcp/server';
import type { RecordedDefinitions, RecordedResponse, Recording } from './recording.js';

/** Sends a request to the client. */
export type Ask = (method: string, params: Params) => Promise<JsonRpcResponse>;

interface RecordedConnectionOptions {
  readonly definition: MastraMCPServerDefinition;
  readonly recording: Recording;
  readonly cut: <Value>(value: Value) => Value;
  readonly ask: Ask;
}

const requestTimeout = 60_000;

/** Connection of one client through a cassette to the server that it records. Requests run one after the other. */
export class RecordedConnection {
  readonly #options: RecordedConnectionOptions;
  #server: RemoteServer | undefined;
  /** Requests of the server since the current request began. */
  #asked: NonNullable<RecordedResponse['asked']> = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: RecordedConnectionOptions) {
    this.#options = options;
  }

  /** Responds to a request of the client, and records the response. */
  respond(method: string, params: Params): Promise<RecordedResponse> {
    const responding = this.#last.then(() => this.#respond(method, params));
    this.#last = responding.catch(() => {});
    return responding;
  }

  /** Sends a request to the server. @throws its errors, and those of the connection */
  async #send(method: string, { _meta, ...params }: Params): Promise<RecordedResponse> {
    // The client's progress token is not unique at the server.
    const { progressToken: _progressToken, ...meta } = isObject(_meta) ? _meta : {};
    const sent = Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
    return { result: await this.#request((engine, options) => engine.request(method, sent, options)) };
  }

  #list(method: ListMethod): Promise<RecordedResponse> {
    const fetching = this.#request((engine, options) => fetchPages('server', engine, method, options));
    return fetching.then(
      ({ items }) => ({ result: { [requestMethods[method].resultMember]: items } }),
      toErrorResponse,
    );
  }

  #request<Value>(send: (engine: Engine, options: EngineRequestOptions) => Promise<Value>): Promise<Value> {
    const server = this.#open();
    return server.request(send, { timeout: server.options.timeout ?? requestTimeout });
  }

  /**
   * Returns the lists of the server, without secrets.
   *
   * @param capabilities - those of the client, where there is no connection yet
   * @throws errors of the connection
   */
  async definitions(capabilities?: Params): Promise<RecordedDefinitions> {
    const { capabilities: offered = {} } = (await this.#open(capabilities).connect()).server;
    const definitions: RecordedDefinitions = {};
    for (const method of listMethods)
      if (offered[requestMethods[method].capability]) definitions[method] = await this.#list(method);
    return this.#options.cut(definitions);
  }

  async close(): Promise<void> {
    await this.#server?.disconnect();
  }

  async #respond(method: string, params: Params): Promise<RecordedResponse> {
    if (method === 'ping') return { result: {} };
    if (method === 'initialize') return { result: await this.#describeServer(params) };
    const { recording, cut } = this.#options;
    this.#asked = [];
    const response = await this.#send(method, params).catch(toErrorResponse);
    const asked = this.#asked.length > 0 && { asked: this.#asked };
    recording.add(method, cut(params), cut({ ...asked, ...response }));
    await recording.write();
    return response;
  }

  async #describeServer(params: Params): Promise<Params> {
    const { recording, cut } = this.#options;
    const capabilities = isObject(params['capabilities']) ? params['capabilities'] : {};
    const { server } = await this.#open(capabilities).connect();
    const { capabilities: offered = {}, info = { name: 'unknown', version: '0' }, instructions } = server;
    const described = {
      protocolVersion: LEGACY_VERSIONS[0],
      capabilities: offered,
      serverInfo: info,
      ...(instructions !== undefined && { instructions }),
    };
    recording.server = cut(described);
    recording.capabilities = capabilities;
    recording.definitions = await this.definitions();
    await recording.write();
    return described;
  }

  #open(capabilities: Params = {}): RemoteServer {
    const { definition, ask } = this.#options;
    return (this.#server ??= new RemoteServer({
      name: 'server',
      definition: { ...definition, capabilities, tasks: false },
      timeout: requestTimeout,
      createApplication: () => ({
        respond: async (method, params) => {
          this.#asked.push({ method, params });
          const { result, error } = await ask(method, params);
          if (error) throw new ProtocolError(error.code, error.message, { data: error.data });
          return result ?? {};
        },
        notify: () => {},
      }),
    }));
  }
}

/** Returns the error that the server responded with. @throws other errors: without a response, there is nothing to record */
function toErrorResponse(error: unknown): RecordedResponse {
  if (!isQuiverError(error) || error.details?.['rpcCode'] === undefined) throw error;
  return { error: toRpcError(error) };
}

/** Returns the error of a response for an error of this side, or the one of the server that it explains. */
export function toRpcError(error: unknown): NonNullable<JsonRpcResponse['error']> {
  const cause = isQuiverError(error) && error.cause instanceof ProtocolError ? error.cause : error;
  if (!(cause instanceof ProtocolError)) return { code: errorCodes.internal, message: toErrorMessage(error) };
  const { code, message, data } = cause;
  return { code, message, ...(data !== undefined && { data }) };
}
