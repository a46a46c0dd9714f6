import { isQuiverError, toErrorMessage } from '@quiver/core';
import type { MastraMCPServerDefinition } from '@quiver/mcp/client';
import { ProtocolError, RemoteServer } from '@quiver/mcp/internal';
import { isObject, type ListMethod, type Params, type RpcResponse, type RpcError } from '../json.js';
import type { RecordedDefinitions, RecordedResponse, Recording } from './recording.js';

/** Sends a request to the client. */
export type Ask = (method: string, params: Params) => Promise<RpcResponse>;

interface RecordedServerOptions {
  readonly definition: MastraMCPServerDefinition;
  readonly recording: Recording;
  readonly cut: <Value>(value: Value) => Value;
  readonly ask: Ask;
}

const requestTimeout = 60_000;
/** A server that sends a cursor with every page would never end. */
const maxPages = 1000;

/** Lists of a server: the capability that it declares for them, and the member with the items. */
const lists: Readonly<Record<ListMethod, readonly [capability: string, member: string]>> = {
  'tools/list': ['tools', 'tools'],
  'resources/list': ['resources', 'resources'],
  'resources/templates/list': ['resources', 'resourceTemplates'],
  'prompts/list': ['prompts', 'prompts'],
};

/** The server that a cassette records, as one client of the cassette uses it. Requests run one after the other. */
export class RecordedServer {
  readonly #options: RecordedServerOptions;
  #server: RemoteServer | undefined;
  /** Requests of the server since the current request began. */
  #asked: NonNullable<RecordedResponse['asked']> = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: RecordedServerOptions) {
    this.#options = options;
  }

  /** Responds to a request of the client, and records the response. */
  respond(method: string, params: Params): Promise<RecordedResponse> {
    const responding = this.#last.then(() => this.#respond(method, params));
    this.#last = responding.catch(() => {});
    return responding;
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
    for (const [method, [capability, member]] of Object.entries(lists))
      if ((offered as Params)[capability])
        definitions[method as ListMethod] = await this.#list(method, member).catch(toErrorResponse);
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
    const { _meta, ...sent } = params;
    // The client's progress token is not unique at the server.
    const { progressToken: _progressToken, ...meta } = isObject(_meta) ? _meta : {};
    const response = await this.#request(method, Object.keys(meta).length > 0 ? { ...sent, _meta: meta } : sent).then(
      (result): RecordedResponse => ({ result }),
      toErrorResponse,
    );
    const asked = this.#asked.length > 0 && { asked: this.#asked };
    recording.add(method, cut(params), cut({ ...asked, ...response }));
    await recording.write();
    return response;
  }

  /** Sends a request to the server. @throws its errors, and those of the connection */
  #request(method: string, params: Params): Promise<Params> {
    const server = this.#open();
    const timeout = server.options.timeout ?? requestTimeout;
    return server.request((engine, options) => engine.request(method, params, options), { timeout });
  }

  async #list(method: string, member: string): Promise<RecordedResponse> {
    const items: unknown[] = [];
    let cursor: unknown;
    for (let page = 0; page < maxPages; page += 1) {
      const result = await this.#request(method, cursor === undefined ? {} : { cursor });
      items.push(...(result[member] as unknown[]));
      const { nextCursor } = result;
      if (nextCursor === undefined || nextCursor === null || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return { result: { [member]: items } };
  }

  async #describeServer({ protocolVersion, capabilities: given }: Params): Promise<Params> {
    const { recording, cut } = this.#options;
    const capabilities = isObject(given) ? given : {};
    const { server } = await this.#open(capabilities).connect();
    const { capabilities: offered = {}, info = { name: 'unknown', version: '0' }, instructions } = server;
    const described = {
      protocolVersion,
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
export function toRpcError(error: unknown): RpcError {
  const cause = isQuiverError(error) ? error.cause : undefined;
  if (!(cause instanceof ProtocolError)) return { code: internalError, message: toErrorMessage(error) };
  const { code, message, data } = cause;
  return { code, message, ...(data !== undefined && { data }) };
}

const internalError = -32_603;
