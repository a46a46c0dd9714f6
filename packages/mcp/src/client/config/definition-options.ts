import {
  anyValue,
  booleanValue,
  eitherOf,
  functionValue,
  ignoredOptions,
  listOf,
  objectOf,
  objectWith,
  oneOf,
  type OptionCheck,
  type OptionChecks,
  stringList,
  stringValue,
  unchecked,
} from '@quiver/core/internal';
import { clientInfoCheck } from './client-info.js';
import type { SamplingModel } from './handlers.js';
import type {
  HttpServerDefinition,
  InProcessServerDefinition,
  ReconnectionOptions,
  ServerOptions,
  StdioServerDefinition,
  TlsOptions,
} from './server-definition.js';
import type { ToolSelection } from './tool-options.js';

export const rootList: OptionCheck = listOf(
  objectOf<{ uri: string; name?: string; _meta?: object }>({ uri: stringValue, name: anyValue, _meta: anyValue }),
);

const serverChecks: OptionChecks<ServerOptions> = {
  ...unchecked<ServerOptions>()('timeout', 'connectTimeout', 'maxRetries', 'maxInputRounds'),
  ...unchecked<ServerOptions>()('serverLogLevel', 'capabilities', 'resultLimit', 'includeInstructions', 'toolPrefix'),
  logger: functionValue,
  log: functionValue,
  enableServerLogs: booleanValue,
  enableProgressTracking: booleanValue,
  resetTimeoutOnProgress: booleanValue,
  clientInfo: clientInfoCheck,
  onMessage: functionValue,
  roots: (value, option, owner) => (typeof value === 'function' ? undefined : rootList(value, option, owner)),
  sampling: eitherOf(
    'a function or an object with a model',
    functionValue,
    objectOf<SamplingModel>({ model: anyValue, maxTokens: anyValue, approve: functionValue }),
  ),
  tasks: eitherOf('true, false or an object', booleanValue, objectOf<{ timeout: number }>({ timeout: anyValue })),
  onToolError: eitherOf("'throw', 'return' or a function", oneOf('throw', 'return'), functionValue),
  processToolCall: functionValue,
  requireToolApproval: eitherOf('true, false or a function', booleanValue, functionValue),
  requestMeta: functionValue,
  cache: eitherOf(
    'true, false or an object',
    booleanValue,
    objectOf<Exclude<NonNullable<ServerOptions['cache']>, boolean>>({
      tools: booleanValue,
      resources: booleanValue,
      prompts: booleanValue,
    }),
  ),
  includeReturnSchema: booleanValue,
  untrusted: booleanValue,
  protocol: oneOf('auto', 'legacy', 'modern'),
  tools: objectOf<NonNullable<ToolSelection['tools']>>({
    allow: stringList,
    deny: stringList,
    filter: functionValue,
    rename: anyValue,
  }),
  // Options of Mastra's definitions. `allowedHosts`, which limits the hosts of requests, is rejected.
  ...ignoredOptions({
    forwardInstructions: 'set includeInstructions, and pass the text of mcp.getInstructions() to the model.',
    instructionsMaxLength: 'pass maxLength to mcp.getInstructions().',
    jsonSchemaValidator: 'the validator generates no code and runs on every platform.',
    protocolVersion: "set protocol to 'auto', 'legacy' or 'modern'.",
    traceContext: 'instrument() of @quiver/core/otel propagates the trace.',
    inputRequests: 'set the handlers of elicitation, sampling and roots.',
  }),
};

/** The settings that are passed on to `fetch` and to the child process are theirs. */
export const definitionChecks: {
  command: OptionChecks<Omit<StdioServerDefinition, 'url' | 'server'>>;
  url: OptionChecks<Omit<HttpServerDefinition, 'command' | 'server'>>;
  server: OptionChecks<Omit<InProcessServerDefinition, 'command' | 'url'>>;
} = {
  command: {
    ...unchecked<StdioServerDefinition>()('command', 'args', 'env', 'inheritDefaultEnv', 'cwd', 'stderr'),
    ...serverChecks,
  },
  url: {
    url: anyValue,
    transport: oneOf('auto', 'http', 'sse'),
    ...unchecked<HttpServerDefinition>()('requestInit', 'headers', 'eventSourceInit'),
    fetch: functionValue,
    authProvider: objectWith('a provider of OAuth, such as createLoopbackProvider()', 'tokens', 'saveTokens'),
    auth: oneOf('oauth'),
    tls: objectOf<TlsOptions>({
      ...unchecked<TlsOptions>()('ca', 'cert', 'key', 'passphrase', 'servername'),
      rejectUnauthorized: booleanValue,
    }),
    reconnectionOptions: objectOf<ReconnectionOptions>({
      ...unchecked<ReconnectionOptions>()('initialReconnectionDelay', 'maxReconnectionDelay', 'maxRetries'),
      reconnectionDelayGrowFactor: anyValue,
    }),
    sessionId: anyValue,
    ...serverChecks,
  },
  server: { server: anyValue, ...serverChecks },
};
