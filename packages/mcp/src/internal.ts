/**
 * What `@quiver/devtools` needs of this package beyond its public names. It is unsupported: any release may change it.
 *
 * @internal
 * @module
 */
export { redactToken } from './auth/redact-token.js';
export { type ConnectableServer } from './client/config/in-process-server.js';
export { parseServerDefinition } from './client/config/parse-server-definition.js';
export { type EngineRequestOptions } from './client/engine/call.js';
export { type Engine } from './client/engine/engine.js';
export { fetchPages } from './client/remote/list-cache.js';
export { RemoteServer } from './client/remote/remote-server.js';
export { parseToolDefinitions, sortKeys } from './client/remote/tool-definitions.js';
export { toErrorText } from './content.js';
export { errorCodes, LEGACY_VERSIONS } from './protocol/constants.js';
export { isObject, parseMessage, type JsonRpcResponse, type Params, type RequestId } from './protocol/json-rpc.js';
export { hasInvisibleText } from './protocol/invisible-text.js';
export { listMethods, requestMethods } from './protocol/methods.js';
export { ProtocolError } from './protocol/protocol-error.js';
export { type ServerCapabilities } from './protocol/types.js';
