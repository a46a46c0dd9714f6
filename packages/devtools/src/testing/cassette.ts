import { QuiverError } from '@quiver/core';
import {
  anyValue,
  checkOptions,
  oneOf,
  type OptionChecks,
  stringList,
  stringValue,
  invalidOptions,
  required,
} from '@quiver/core/internal';
import type { MastraMCPServerDefinition, MessageTransport, ServerDefinition } from '@quiver/mcp/client';
import { parseServerDefinition } from '@quiver/mcp/internal';
import { isObject, type ListMethod, type Params, type RpcResponse } from '../json.js';
import { createSecretCutter } from './cut-secrets.js';
import { describeChanges } from './describe-changes.js';
import { RecordedServer, toRpcError, type Ask } from './recorded-server.js';
import { Recording, type RecordedResponse } from './recording.js';

/** Options of `createCassette()`. */
export interface CassetteOptions {
  /** Path of the JSON file. */
  file: string;
  /** Server to record, as in `MCPClient`. Replay does not need it. */
  server?: ServerDefinition;
  /** `record` sends every request to the server, and rewrites the file; `replay` answers from the file only. Default `replay`. */
  mode?: 'record' | 'replay';
  /** Further names of members whose values are cut, such as `customerNumber`. */
  secrets?: readonly string[];
}

/** A server that records another one, or replays the recording. Pass it where a server of this process is expected. */
export interface Cassette extends AsyncDisposable {
  connect(transport: MessageTransport): Promise<void>;
  /**
   * Compares the lists of tools, resources and prompts at the time of the recording with those of `server` now. Calls no tool.
   *
   * @throws `CASSETTE_OUTDATED` with the differences, or when the file contains no lists; `OPTIONS_INVALID` without `server`;
   *   `MCP_CLIENT_CONNECT_FAILED`
   */
  verify(): Promise<void>;
  /** Ends the connections to the server. */
  close(): Promise<void>;
}

const checks: OptionChecks<CassetteOptions> = {
  file: required(stringValue, 'the path of a JSON file'),
  server: anyValue,
  mode: oneOf('record', 'replay'),
  secrets: stringList,
};

/**
 * Returns a server that records the answers of another server into a file, or replays them without it. Requests are found by method,
 * name and arguments; several answers to equal requests are replayed in order, then the last one again. Values of members such as
 * `password` and `apiKey`, and those of secret headers, environment variables, arguments and parts of the address of the definition, are
 * cut out of the file.
 *
 * Clients connect in the legacy era, which does not concern the server.
 *
 * @throws `OPTIONS_INVALID`; `CASSETTE_INVALID` for a file that is missing or not a cassette
 * @example
 * const cassette = createCassette({
 *   file: 'test/weather.json',
 *   server: { url: 'https://weather.example/mcp', headers: { authorization: `Bearer ${token}` } },
 *   mode: process.env.RECORD ? 'record' : 'replay',
 * });
 * await using client = await createTestClient(cassette);
 */
export function createCassette(options: CassetteOptions): Cassette {
  checkOptions('createCassette', options, checks);
  const { file, server, mode = 'replay', secrets = [] } = options;
  const definition = server === undefined ? undefined : parseServerDefinition('server', server).definition;
  const isRecording = mode === 'record';
  if (isRecording && !definition) throw missingServer("mode 'record'");
  const recording = isRecording ? new Recording(file) : Recording.read(file);
  return new ServerCassette({ file, recording, definition, isRecording, cut: createSecretCutter(definition, secrets) });
}

function missingServer(what: string): QuiverError {
  return invalidOptions(`${what} of a cassette needs \`server\`, the definition of the server to record.`);
}

interface CassetteSettings {
  readonly file: string;
  readonly recording: Recording;
  readonly definition: MastraMCPServerDefinition | undefined;
  readonly isRecording: boolean;
  readonly cut: <Value>(value: Value) => Value;
}

class ServerCassette implements Cassette {
  readonly #settings: CassetteSettings;
  readonly #connections = new Set<RecordedServer>();

  constructor(settings: CassetteSettings) {
    this.#settings = settings;
  }

  async connect(transport: MessageTransport): Promise<void> {
    const waiting = new Map<unknown, (response: RpcResponse) => void>();
    const ask: Ask = (method, params) =>
      new Promise((resolve, reject) => {
        const id = crypto.randomUUID();
        waiting.set(id, resolve);
        transport.send({ jsonrpc: '2.0', id, method, params }).catch(reject);
      });
    const connection = this.#open(ask);
    const receive = async (value: unknown): Promise<void> => {
      const { id, method, params, ...response } = isObject(value) ? value : {};
      if (id !== undefined && method === undefined) waiting.get(id)?.(response);
      if (id === undefined || typeof method !== 'string') return;
      const given = isObject(params) ? params : {};
      const responding = connection ? connection.respond(method, given) : this.#replay(method, given, ask);
      const reply: RpcResponse = await responding.catch((error: unknown) => ({ error: toRpcError(error) }));
      await transport.send({ jsonrpc: '2.0', id, ...reply });
    };
    // A message that cannot be sent has no receiver: the client has gone.
    Object.assign(transport, {
      onmessage: (value: unknown) => void receive(value).catch(() => {}),
      onclose: () => void connection?.close(),
    });
    await transport.start();
  }

  async verify(): Promise<void> {
    const { file, recording } = this.#settings;
    const connection = this.#open(async () => ({ result: {} }), 'verify()');
    const { definitions: before, capabilities } = recording;
    if (!before)
      throw new QuiverError(
        'CASSETTE_OUTDATED',
        `The cassette ${file} contains no definitions to compare with its server. Record it again with mode 'record'.`,
      );
    const after = await connection.definitions(capabilities).finally(() => connection.close());
    const methods = new Set([...Object.keys(before), ...Object.keys(after)] as ListMethod[]);
    const changes = [...methods].flatMap((method) =>
      describeChanges(shown(before[method]), shown(after[method]), method),
    );
    if (changes.length === 0) return;
    throw new QuiverError(
      'CASSETTE_OUTDATED',
      `The cassette ${file} differs from its server. Record it again with mode 'record':\n${changes.join('\n')}`,
      { details: { changes } },
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Opens a connection to the server, unless the cassette replays. */
  #open(ask: Ask): RecordedServer | undefined;
  #open(ask: Ask, what: string): RecordedServer;
  #open(ask: Ask, what?: string): RecordedServer | undefined {
    const { isRecording, definition, recording, cut } = this.#settings;
    if (what !== undefined && !definition) throw missingServer(what);
    if (!definition || (!isRecording && what === undefined)) return undefined;
    const connection = new RecordedServer({ definition, recording, cut, ask });
    this.#connections.add(connection);
    return connection;
  }

  async #replay(method: string, params: Params, ask: Ask): Promise<RpcResponse> {
    const { recording } = this.#settings;
    if (method === 'ping') return { result: {} };
    if (method === 'initialize') return { result: { ...recording.server, protocolVersion: params['protocolVersion'] } };
    const { asked = [], ...reply } = this.#find(method, params);
    for (const request of asked) await ask(request.method, request.params);
    return reply;
  }

  #find(method: string, params: Params): RecordedResponse {
    const { file, recording, cut } = this.#settings;
    const { _meta, ...wanted } = cut(params);
    const found = recording.next(method, wanted);
    if (found) return found;
    const similar = recording.requests.filter(
      (request) => request.method === method && request.params['name'] === wanted['name'],
    );
    const others = similar.slice(0, maxShown).map((request) => JSON.stringify(request.params));
    const message = `The cassette ${file} has no answer to ${method} ${JSON.stringify(wanted)}, but to ${others.join(', ') || 'none of this method and name'}. Record it again with mode 'record'.`;
    return { error: { code: invalidParams, message } };
  }
}

/** Returns what a difference is about: the result of a list, or its error. */
function shown(response: RpcResponse | undefined): unknown {
  return response?.result ?? response;
}

const invalidParams = -32_602;
/** Similar requests in an error message. */
const maxShown = 3;
