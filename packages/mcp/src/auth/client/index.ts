export { authenticate, type AuthenticateOptions } from './authenticate.js';
export {
  createOAuthCallbackServer,
  type OAuthCallbackServer,
  type OAuthCallbackServerOptions,
} from './callback-server.js';
export { createClientCredentialsProvider, type ClientCredentialsOptions } from './client-credentials.js';
export { FileOAuthStorage, type FileOAuthStorageOptions } from './file-oauth-storage.js';
export { finishAuthorization, type AuthorizationCallback, type FinishAuthorizationOptions } from './sign-in.js';
export {
  createEnterpriseManagedProvider,
  createJwtBearerProvider,
  type EnterpriseManagedOptions,
  type IdentityProvider,
  type JwtBearerOptions,
} from './jwt-bearer.js';
export { createLoopbackProvider, type LoopbackProviderOptions } from './loopback-provider.js';
export {
  MCPOAuthClientProvider,
  type MCPOAuthClientProviderOptions,
  type TokenRequestContext,
} from './oauth-client-provider.js';
export type { OAuthFetchOptions } from './adopt-provider.js';
export { createOAuthFetch } from './with-authorization.js';
export { InMemoryOAuthStorage, type OAuthStorage } from './oauth-storage.js';
export { createSimpleTokenProvider, type SimpleTokenProviderOptions } from './simple-token-provider.js';
