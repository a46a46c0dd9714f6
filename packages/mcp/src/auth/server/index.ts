export {
  createOAuthMiddleware,
  expressOAuth,
  type OAuthMiddleware,
  type OAuthMiddlewareResult,
  type ProtectedRequest,
} from './oauth-middleware.js';
export type { OAuthMiddlewareOptions, OAuthServerOptions } from './oauth-options.js';
export { createWebOAuth, honoOAuth, type HonoOAuthContext, type WebOAuthResult } from './web-oauth.js';
export type { TokenValidationResult, TokenValidator } from './token-validator.js';
export { createStaticTokenValidator, type StaticToken } from './validators/static-token-validator.js';
export { createIntrospectionValidator, type IntrospectionOptions } from './validators/introspection-validator.js';
export { createJwtValidator, type JwtValidatorOptions } from './validators/jwt-validator.js';
export { extractBearerToken, generateWWWAuthenticateHeader, type ChallengeOptions } from './bearer-token.js';
export {
  generateProtectedResourceMetadata,
  type ProtectedResourceMetadata,
  type ProtectedResourceOptions,
} from './protected-resource-metadata.js';
