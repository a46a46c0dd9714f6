import { isQuiverError, toErrorMessage } from '@quiver/core';
import type { MastraMCPServerDefinition } from '@quiver/mcp/client';
import { ProtocolError, RemoteServer } from '@quiver/mcp/internal';
import { isObject, type ListMethod, type Params, type RpcResponse } from '../json.js';
import type { RecordedDefinitions, RecordedResponse, Recording } from './recording.js';

/** Sends a request, and returns its response. */
export type Ask = (method: string, params: Params) => Promise<RpcResponse>;

/** A connection of one client of a cassette. */
export interface CassetteConnection {
  readonly respond: Ask;
  readonly close: () => Promise<void>;
}

/** The recorded server of a cassette. */
export interface RecorderOptions {
  readonly definition: MastraMCPServerDefinition;
  readonly recording: Recording;
  readonly cut: <Value>(value: Value) => Value;
}

const internalError = -32_603;
const requestTimeout = 60_000;
/** A server that sends a cursor with every page would never end. */
const maxPages = 1000;

/** Lists of a server: the capability that it declares for them, and the member with the items. */
const lists: readonly [method: ListMethod, capability: string, member: string][] = [
  ['tools/list', 'tools', 'tools'],
  ['resources/list', 'resources', 'resources'],
  ['resources/templates/list', 'resources', 'resourceTemplates'],
  ['prompts/list', 'prompts', 'prompts'],
];

/** Opens a connection to the server, which records the responses. Requests run one after the other. @param ask - sends requests to the client */
export function createRecorder({ definition, recording, cut }: RecorderOptions, ask: Ask): CassetteConnection {
  let server: RemoteServer | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /** Requests of the server since the current request began. */
  let asked: NonNullable<RecordedResponse['asked']> = [];
  const open = (capabilities: Params = {}): RemoteServer =>
    (server ??= openServer(definition, capabilities, (method, params) => {
      asked.push({ method, params });
      return ask(method, params);
    }));
  const initialize = async ({ protocolVersion, capabilities = {} }: Params): Promise<RpcResponse> => {
    const opened = open(capabilities as Params);
    const { capabilities: offered = {}, info, instructions } = (await opened.connection.connect()).server;
    const serverInfo = info ?? { name: 'unknown', version: '0' };
    const result = { protocolVersion, capabilities: offered, serverInfo, ...(instructions && { instructions }) };
    recording.server = cut(result);
    recording.capabilities = capabilities as Params;
    recording.definitions = cut(await readDefinitions(opened));
    return { result };
  };
  const request = async (method: string, { _meta, ...params }: Params): Promise<RpcResponse> => {
    asked = [];
    // The client's progress token is not unique at the server.
    const { progressToken: _progressToken, ...meta } = isObject(_meta) ? _meta : {};
    const response = await toResponse(send(open(), method, { ...params, _meta: meta }));
    recording.add(method, cut(params), cut({ ...(asked.length > 0 && { asked }), ...response }));
    return response;
  };
  const respond = async (method: string, params: Params): Promise<RpcResponse> => {
    const response = await (method === 'initialize' ? initialize(params) : request(method, params));
    await recording.write();
    return response;
  };
  return {
    respond: (method, params) => {
      const responding = last.then(() => respond(method, params));
      last = responding.catch(() => {});
      return responding;
    },
    close: async () => server?.disconnect(),
  };
}

/** @param capabilities - those of the client @param ask - sends requests to the client */
export function openServer(definition: MastraMCPServerDefinition, capabilities: Params, ask: Ask): RemoteServer {
  return new RemoteServer({
    name: 'server',
    definition: { ...definition, capabilities, tasks: false },
    timeout: requestTimeout,
    createApplication: () => ({
      respond: async (method, params) => {
        const { result = {}, error } = await ask(method, params);
        if (error) throw new ProtocolError(error.code, error.message, { data: error.data });
        return result;
      },
      notify: () => {},
    }),
  });
}

/** Returns the lists that a server declares. @throws errors of the connection */
export async function readDefinitions(server: RemoteServer): Promise<RecordedDefinitions> {
  const { capabilities = {} } = (await server.connection.connect()).server;
  const declared = lists.filter(([, capability]) => (capabilities as Params)[capability]);
  const definitions: RecordedDefinitions = {};
  for (const [method, , member] of declared) definitions[method] = await toResponse(readList(server, method, member));
  return definitions;
}

async function readList(server: RemoteServer, method: string, member: string): Promise<Params> {
  const items: unknown[] = [];
  let params: Params = {};
  for (let page = 0; page < maxPages; page += 1) {
    const { nextCursor, ...result } = await send(server, method, params);
    items.push(...(result[member] as unknown[]));
    if (nextCursor === undefined || nextCursor === null || nextCursor === params['cursor']) break;
    params = { cursor: nextCursor };
  }
  return { [member]: items };
}

/** @throws the errors of the server, and those of the connection */
function send(server: RemoteServer, method: string, params: Params): Promise<Params> {
  const { timeout = requestTimeout } = server.options;
  return server.request((engine, options) => engine.request(method, params, options), { timeout });
}

/** Returns the result, or the error that the server responded with. @throws other errors: without a response, there is nothing to record */
async function toResponse(running: Promise<Params>): Promise<RpcResponse> {
  try {
    return { result: await running };
  } catch (error) {
    if (!isQuiverError(error) || error.details?.['rpcCode'] === undefined) throw error;
    return { error: toRpcError(error) };
  }
}

/** Returns the error of a response for an error of this side, or the one of the server that it explains. */
export function toRpcError(error: unknown): NonNullable<RpcResponse['error']> {
  const cause = isQuiverError(error) ? error.cause : undefined;
  if (!(cause instanceof ProtocolError)) return { code: internalError, message: toErrorMessage(error) };
  const { code, message, data } = cause;
  return { code, message, ...(data !== undefined && { data }) };
}
