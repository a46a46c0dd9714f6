export { authenticate, type AuthenticateOptions } from './authenticate.js';
export {
  createOAuthCallbackServer,
  type OAuthCallbackServer,
  type OAuthCallbackServerOptions,
} from './callback-server.js';
export { createClientCredentialsProvider, type ClientCredentialsOptions } from './client-credentials.js';
export { FileOAuthStorage, type FileOAuthStorageOptions } from './file-oauth-storage.js';
export {
  finishAuthorization,
  type AuthorizationCallback,
  type FinishAuthorizationOptions,
} from './finish-authorization.js';
export { MCPOAuthClientProvider, type MCPOAuthClientProviderOptions } from './oauth-client-provider.js';
export { createOAuthFetch, type OAuthFetchOptions } from './oauth-fetch.js';
export { InMemoryOAuthStorage, type OAuthStorage } from './oauth-storage.js';
export { createSimpleTokenProvider, type SimpleTokenProviderOptions } from './simple-token-provider.js';
