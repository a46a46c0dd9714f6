import {
  unchecked,
  booleanValue,
  ignoredOptions,
  functionValue,
  loggerValue,
  numberIn,
  objectOf,
  objectWith,
  oneOf,
  type OptionCheck,
  type OptionChecks,
  wholeNumber,
} from '@quiver/core/internal';
import { cacheableMethods } from '../../protocol/methods.js';
import type { RequestStateOptions } from '../client/request-state.js';
import type { CacheHint, CacheHints, ServerConfig, MCPServerPrompts, MCPServerResources } from './server-config.js';

/** A list would be served under the names 0, 1 and so on, and a promise or a map as nothing. */
const record: OptionCheck = (value, option) => {
  const isRecord = typeof value === 'object' && !(Symbol.iterator in (value ?? {})) && !(value instanceof Promise);
  if (isRecord) return undefined;
  const hint = value instanceof Promise ? ' Await the promise.' : '';
  return `'${option}' must be an object with one entry per name, such as { weather }.${hint}`;
};

/** The message does not quote the value. */
const secretKey: OptionCheck = (value, option) =>
  typeof value === 'string' || value instanceof Uint8Array ? undefined : `'${option}' must be a string or bytes.`;

const cacheHint = objectOf<CacheHint>({ ttlMs: wholeNumber(0), cacheScope: oneOf('public', 'private') });

/** Checks of the options of `MCPServer`. Descriptions of the server, such as `packages`, are values of the protocol. */
export const configChecks: OptionChecks<ServerConfig> = {
  ...unchecked<ServerConfig>()('id', 'name', 'version'),
  tools: record,
  agents: record,
  workflows: record,
  resources: objectOf<MCPServerResources>({
    listResources: functionValue,
    getResourceContent: functionValue,
    resourceTemplates: functionValue,
    completeVariable: functionValue,
  }),
  prompts: objectOf<MCPServerPrompts>({
    listPrompts: functionValue,
    getPromptMessages: functionValue,
    completeArgument: functionValue,
  }),
  ...unchecked<ServerConfig>()('description', 'title', 'icons', 'websiteUrl', 'instructions', 'repository'),
  ...unchecked<ServerConfig>()('packageCanonical', 'packages', 'remotes', 'releaseDate', 'isLatest'),
  requestState: objectOf<RequestStateOptions>({ key: secretKey, ttlSeconds: numberIn({ above: 0 }) }),
  maskErrors: booleanValue,
  visible: functionValue,
  pageSize: wholeNumber(1),
  cacheHints: objectOf<CacheHints>(
    // The cast: the keys are all cacheable methods.
    Object.fromEntries(cacheableMethods.map((method) => [method, cacheHint])) as OptionChecks<CacheHints>,
  ),
  eventBus: objectWith('an event bus', 'publish', 'subscribe'),
  sharedStore: objectWith('a shared store', 'get', 'put', 'append', 'publish', 'subscribe', 'take'),
  logger: loggerValue,
  // Options of Mastra's server. `fga`, which decides who may call a tool, is rejected: ignored, it would let everyone call it.
  ...ignoredOptions({
    appResources: 'serve the pages as resources whose URIs begin with ui://.',
    jsonSchemaValidator: 'the validator generates no code and runs on every platform.',
    mapAuthInfoToUser: 'tools read the identity of the caller from context.mcp.extra.authInfo.',
    protocolVersion: 'a server answers all protocol versions.',
  }),
};
