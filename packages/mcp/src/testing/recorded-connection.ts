import { isQuiverError, toErrorMessage } from '@quiver/core';
import type { MastraMCPServerDefinition } from '../client/config/server-definition.js';
import { RemoteServer } from '../client/server/remote-server.js';
import { errorCodes, LAST_LEGACY_VERSION } from '../protocol/constants.js';
import { isObject, type JsonRpcResponse, type Params } from '../protocol/json-rpc.js';
import { ProtocolError } from '../protocol/protocol-error.js';
import type { RecordedResponse, Recording } from './recording.js';

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
  async send(method: string, { _meta, ...params }: Params): Promise<RecordedResponse> {
    // The client's progress token is not unique at the server.
    const { progressToken: _progressToken, ...meta } = isObject(_meta) ? _meta : {};
    const sent = Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
    const server = this.#open();
    const timeout = server.options.timeout ?? requestTimeout;
    return {
      result: await server.request((engine, options) => engine.request(method, sent, options), { timeout }),
    };
  }

  async close(): Promise<void> {
    await this.#server?.disconnect();
  }

  async #respond(method: string, params: Params): Promise<RecordedResponse> {
    if (method === 'ping') return { result: {} };
    if (method === 'initialize') return { result: await this.#describeServer(params) };
    const { recording, cut } = this.#options;
    this.#asked = [];
    const response = await this.send(method, params).catch((error: unknown) => {
      // Without a response of the server, there is nothing to replay.
      if (!isQuiverError(error) || error.details?.['rpcCode'] === undefined) throw error;
      return { error: toRpcError(error) };
    });
    const asked = this.#asked.length > 0 && { asked: this.#asked };
    recording.add(method, cut(params), cut({ ...asked, ...response }));
    await recording.write();
    return response;
  }

  async #describeServer({ capabilities }: Params): Promise<Params> {
    const { recording, cut } = this.#options;
    const { server } = await this.#open(isObject(capabilities) ? capabilities : {}).connect();
    const { capabilities: offered = {}, info = { name: 'unknown', version: '0' }, instructions } = server;
    const described = {
      protocolVersion: LAST_LEGACY_VERSION,
      capabilities: offered,
      serverInfo: info,
      ...(instructions !== undefined && { instructions }),
    };
    recording.server = cut(described);
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

/** Returns the error of a response for an error of this side, or the one of the server that it explains. */
export function toRpcError(error: unknown): NonNullable<JsonRpcResponse['error']> {
  const cause = isQuiverError(error) && error.cause instanceof ProtocolError ? error.cause : error;
  if (!(cause instanceof ProtocolError)) return { code: errorCodes.internal, message: toErrorMessage(error) };
  const { code, message, data } = cause;
  return { code, message, ...(data !== undefined && { data }) };
}
