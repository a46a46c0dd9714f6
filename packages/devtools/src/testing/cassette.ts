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
import type { MessageTransport, ServerDefinition } from '@quiver/mcp/client';
import { parseServerDefinition } from '@quiver/mcp/internal';
import { isObject, type ListMethod, type RpcResponse } from '../json.js';
import { createSecretCutter } from './cut-secrets.js';
import { describeChanges } from './describe-changes.js';
import {
  createRecorder,
  openServer,
  readDefinitions,
  toRpcError,
  type Ask,
  type CassetteConnection,
} from './recorded-server.js';
import { Recording } from './recording.js';

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
  const missingServer = (what: string): QuiverError =>
    invalidOptions(`${what} of a cassette needs \`server\`, the definition of the server to record.`);
  if (isRecording && !definition) throw missingServer("mode 'record'");
  const recording = isRecording ? new Recording(file) : Recording.read(file);
  const cut = createSecretCutter(definition, secrets);
  const connections = new Set<CassetteConnection>();
  const close = async (): Promise<void> => {
    await Promise.all([...connections].map((connection) => connection.close()));
  };
  return {
    connect: (transport) =>
      serve(transport, (ask) => {
        if (!isRecording || !definition) return createPlayer(file, recording, cut, ask);
        const connection = createRecorder({ definition, recording, cut }, ask);
        connections.add(connection);
        return connection;
      }),
    verify: async () => {
      if (!definition) throw missingServer('verify()');
      const { definitions: before, capabilities = {} } = recording;
      if (!before) throw outdated(file, 'contains no definitions to compare with its server', []);
      const remote = openServer(definition, capabilities, async () => ({ result: {} }));
      const after = cut(await readDefinitions(remote).finally(() => remote.disconnect()));
      const methods = new Set([...Object.keys(before), ...Object.keys(after)] as ListMethod[]);
      const changes = [...methods].flatMap((method) =>
        describeChanges(shown(before[method]), shown(after[method]), method),
      );
      if (changes.length > 0) throw outdated(file, 'differs from its server', changes);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const maxChanges = 20;

function outdated(file: string, problem: string, differences: readonly string[]): QuiverError {
  const more = differences.length - maxChanges;
  const changes = [...differences.slice(0, maxChanges), ...(more > 0 ? [`and ${more} more`] : [])];
  const list = changes.length > 0 ? `:\n${changes.join('\n')}` : '.';
  const message = `The cassette ${file} ${problem}. Record it again with mode 'record'${list}`;
  return new QuiverError('CASSETTE_OUTDATED', message, { details: { changes } });
}

/** Returns what a difference is about: the result of a list, or its error. */
function shown(response: RpcResponse | undefined): unknown {
  return response?.result ?? response;
}

/** Responds to the requests of a client. @param open - receives what sends requests to the client */
async function serve(transport: MessageTransport, open: (ask: Ask) => CassetteConnection): Promise<void> {
  const waiting = new Map<unknown, (response: RpcResponse) => void>();
  const { respond, close } = open(
    (method, params) =>
      new Promise((resolve, reject) => {
        const id = crypto.randomUUID();
        waiting.set(id, resolve);
        transport.send({ jsonrpc: '2.0', id, method, params }).catch(reject);
      }),
  );
  const receive = async (value: unknown): Promise<void> => {
    const { id, method, params, ...response } = isObject(value) ? value : {};
    if (id === undefined) return;
    if (typeof method !== 'string') return waiting.get(id)?.(response);
    const responding = method === 'ping' ? { result: {} } : respond(method, isObject(params) ? params : {});
    const reply = await Promise.resolve(responding).catch((error: unknown) => ({ error: toRpcError(error) }));
    await transport.send({ jsonrpc: '2.0', id, ...reply });
  };
  // A message that cannot be sent has no receiver: the client has gone.
  Object.assign(transport, {
    onmessage: (value: unknown) => void receive(value).catch(() => {}),
    onclose: () => void close(),
  });
  await transport.start();
}

/** Replays the responses of a recording, and the requests of the server before them. */
function createPlayer(
  file: string,
  recording: Recording,
  cut: <Value>(value: Value) => Value,
  ask: Ask,
): CassetteConnection {
  return {
    respond: async (method, params) => {
      if (method === 'initialize')
        return { result: { ...recording.server, protocolVersion: params['protocolVersion'] } };
      const { _meta, ...wanted } = cut(params);
      const found = recording.next(method, wanted);
      if (found) {
        const { asked = [], ...reply } = found;
        for (const request of asked) await ask(request.method, request.params);
        return reply;
      }
      const others = recording.requests
        .filter((request) => request.method === method && request.params['name'] === wanted['name'])
        .slice(0, maxShown)
        .map((request) => JSON.stringify(request.params));
      const message = `The cassette ${file} has no answer to ${method} ${JSON.stringify(wanted)}, but to ${others.join(', ') || 'none of this method and name'}. Record it again with mode 'record'.`;
      return { error: { code: invalidParams, message } };
    },
    close: async () => {},
  };
}

const invalidParams = -32_602;
/** Similar requests in an error message. */
const maxShown = 3;
