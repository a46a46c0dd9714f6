export { createOAuthMiddleware, type OAuthMiddleware, type OAuthMiddlewareResult } from './oauth-middleware.js';
export type { ProtectedRequest } from './oauth-middleware.js';
export type { OAuthMiddlewareOptions, OAuthServerOptions } from './oauth-options.js';
export { createWebOAuth, type WebOAuthResult } from './web-oauth.js';
export { expressOAuth, honoOAuth, type HonoOAuthContext } from './framework-adapters.js';
export type { TokenValidationResult, TokenValidator } from './token-validator.js';
export { createStaticTokenValidator, type StaticToken } from './validators/static-token-validator.js';
export { createIntrospectionValidator, type IntrospectionOptions } from './validators/introspection-validator.js';
export { createJwtValidator, type JwtValidatorOptions } from './validators/jwt-validator.js';
export { extractBearerToken } from './bearer-token.js';
export { generateWWWAuthenticateHeader, type ChallengeOptions } from './challenge.js';
export {
  generateProtectedResourceMetadata,
  type ProtectedResourceMetadata,
  type ProtectedResourceOptions,
} from './protected-resource-metadata.js';
