/**
 * `@quiver/mcp/auth`: OAuth for both sides, without loading the client or the server.
 *
 * @module
 */
export { authenticate, type AuthenticateOptions } from './client/authenticate.js';
export {
  createOAuthCallbackServer,
  type OAuthCallbackServer,
  type OAuthCallbackServerOptions,
} from './client/callback-server.js';
export { FileOAuthStorage, type FileOAuthStorageOptions } from './client/file-oauth-storage.js';
export { finishAuthorization, type FinishAuthorizationOptions } from './client/sign-in.js';
export { createLoopbackProvider, type LoopbackProviderOptions } from './client/loopback-provider.js';
export { MCPOAuthClientProvider } from './client/oauth-client-provider.js';
export type { MCPOAuthClientProviderOptions } from './client/sign-in-state.js';
export type { OAuthFetchOptions } from './client/adopt-provider.js';
export { createOAuthFetch } from './client/with-authorization.js';
export { InMemoryOAuthStorage, type OAuthStorage } from './client/oauth-storage.js';
export { SharedOAuthStorage, type SharedOAuthStorageOptions } from './client/shared-oauth-storage.js';
export { createSimpleTokenProvider, type SimpleTokenProviderOptions } from './client/simple-token-provider.js';
export {
  createClientCredentialsProvider,
  createEnterpriseManagedProvider,
  createJwtBearerProvider,
  type ClientCredentialsOptions,
  type EnterpriseManagedOptions,
  type JwtBearerOptions,
} from './client/registered-clients.js';
export {
  createOAuthMiddleware,
  expressOAuth,
  type OAuthMiddleware,
  type OAuthMiddlewareResult,
  type ProtectedRequest,
} from './server/oauth-middleware.js';
export type { Authenticate, AuthenticationRequest, CallerIdentity, RequestValidator } from './server/authentication.js';
export type { OAuthMiddlewareOptions, OAuthServerOptions } from './server/oauth-options.js';
export { createWebOAuth, honoOAuth, type HonoOAuthContext, type WebOAuthResult } from './server/web-oauth.js';
export type { TokenValidationResult, TokenValidator } from './server/token-validator.js';
export { createStaticTokenValidator, type StaticToken } from './server/validators/static-token-validator.js';
export {
  createIntrospectionValidator,
  type IntrospectionOptions,
} from './server/validators/introspection-validator.js';
export { createJwtValidator, type JwtValidatorOptions } from './server/validators/jwt-validator.js';
export { extractBearerToken, generateWWWAuthenticateHeader, type ChallengeOptions } from './server/bearer-token.js';
export {
  generateProtectedResourceMetadata,
  type ProtectedResourceMetadata,
  type ProtectedResourceOptions,
} from './server/protected-resource-metadata.js';
