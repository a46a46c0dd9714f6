/**
 * Names for `@quiver/devtools` in addition to the public ones. It is unsupported: any release may change it.
 *
 * @internal
 * @module
 */
export { redactToken } from './auth/redact-token.js';
export { parseServerDefinition } from './client/config/parse-server-definition.js';
export { RemoteServer } from './client/remote/remote-server.js';
export { parseToolDefinitions, sortKeys } from './client/remote/tool-definitions.js';
export { errorCodes } from './protocol/constants.js';
export { hasInvisibleText } from './protocol/invisible-text.js';
export { isObject, type JsonRpcResponse, type Params } from './protocol/json-rpc.js';
export { listMethods, requestMethods, type ListMethod } from './protocol/methods.js';
export { ProtocolError } from './protocol/protocol-error.js';
