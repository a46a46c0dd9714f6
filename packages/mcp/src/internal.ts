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
export { hasInvisibleText } from './protocol/invisible-text.js';
export { ProtocolError } from './protocol/protocol-error.js';
