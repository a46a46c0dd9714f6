export { authenticate, type AuthenticateOptions } from './authenticate.js';
export {
  createOAuthCallbackServer,
  type OAuthCallbackServer,
  type OAuthCallbackServerOptions,
} from './callback-server.js';
export { createClientCredentialsProvider, type ClientCredentialsOptions } from './client-credentials.js';
export {
  createEnterpriseManagedProvider,
  type EnterpriseManagedOptions,
  type IdentityProvider,
} from './enterprise-managed.js';
export { FileOAuthStorage, type FileOAuthStorageOptions } from './file-oauth-storage.js';
export {
  finishAuthorization,
  type AuthorizationCallback,
  type FinishAuthorizationOptions,
} from './finish-authorization.js';
export { createJwtBearerProvider, type JwtBearerOptions } from './jwt-bearer.js';
export { createLoopbackProvider, type LoopbackProviderOptions } from './loopback-provider.js';
export {
  MCPOAuthClientProvider,
  type MCPOAuthClientProviderOptions,
  type TokenRequestContext,
} from './oauth-client-provider.js';
export { createOAuthFetch, type OAuthFetchOptions } from './oauth-fetch.js';
export { InMemoryOAuthStorage, type OAuthStorage } from './oauth-storage.js';
export { createSimpleTokenProvider, type SimpleTokenProviderOptions } from './simple-token-provider.js';
