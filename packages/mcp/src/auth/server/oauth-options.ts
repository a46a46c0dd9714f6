import { QuiverError, type Logger } from '@quiver/core';
import {
  booleanValue,
  checkOptions,
  eitherOf,
  loggerValue,
  numberIn,
  objectOf,
  oneOf,
  type OptionChecks,
  stringList,
  required,
  unchecked,
  valueThat,
} from '@quiver/core/internal';
import { requireSecureUrl } from '../secure-url.js';
import { resourceChecks, type ProtectedResourceOptions } from './protected-resource-metadata.js';
import type { TokenValidator } from './token-validator.js';

/** Protected resource: its authorization servers, token validator and scopes. */
export interface OAuthServerOptions extends ProtectedResourceOptions {
  /** Validates every token. Required. */
  validateToken: TokenValidator;
  /** Milliseconds after which a pending validation is answered with 503. Default 10 000. */
  validationTimeout?: number;
  /**
   * Milliseconds after which a token is validated again, though its validator allows longer. The validators of JWTs and of static tokens allow
   * it; a revoked JWT stays valid for that long. 0 validates each request. Default 300,000.
   */
  cacheTtl?: number;
  /** Scopes that every request requires. Default none. */
  requiredScopes?: readonly string[];
  /** Scopes that calls of single tools require in addition, by the tool's MCP name. */
  toolScopes?: Readonly<Record<string, readonly string[]>>;
  /** Lets tools read the token itself, as `authInfo.token`. Default `false`. */
  exposeToken?: boolean;
}

/** Options of `createOAuthMiddleware()`, `createWebOAuth()`, `expressOAuth()` and `honoOAuth()`. */
export interface OAuthMiddlewareOptions {
  /** The protected resource, its validator and its scopes. */
  oauth: OAuthServerOptions;
  /** Path of the MCP server. Everything below it, and below the path of `resource`, requires a token. Default `/mcp`. */
  mcpPath?: string;
  /** Origins whose pages may read the responses, or `*`. Default `*`: a page has no token unless the user passed it one. */
  allowedOrigins?: '*' | readonly string[];
  /** Receives errors of validators. Default: the default logger. */
  logger?: Logger;
}

/** RFC 8707, section 2: an absolute URI without a fragment. */
const publicUrl = valueThat(
  (value) => typeof value === 'string' && /^https?:[^#]*$/i.test(value) && URL.canParse(value),
  'the public URL of the MCP server, http(s) and without a fragment, for example https://mcp.example.com/mcp',
);

const middlewareChecks: OptionChecks<OAuthMiddlewareOptions> = {
  oauth: objectOf<OAuthServerOptions>({
    ...resourceChecks,
    resource: required(publicUrl),
    ...unchecked<OAuthServerOptions>()('validateToken', 'validationTimeout', 'toolScopes'),
    cacheTtl: numberIn({ least: 0 }),
    requiredScopes: stringList,
    exposeToken: booleanValue,
  }),
  mcpPath: valueThat((path) => String(path).startsWith('/'), 'a path that begins with a slash'),
  allowedOrigins: eitherOf("'*' or a list of origins", oneOf('*'), stringList),
  logger: loggerValue,
};

/**
 * @throws `OPTIONS_INVALID`, also when `resource` is not an http(s) URL without fragment; `OAUTH_VALIDATOR_MISSING` without a validator;
 *   `OAUTH_AUTHORIZATION_SERVERS_MISSING`; `OAUTH_URL_INSECURE`
 */
export function requireOAuthOptions(options: OAuthMiddlewareOptions): void {
  checkOptions('The OAuth middleware', options, middlewareChecks);
  const { oauth } = options;
  if (typeof oauth?.validateToken !== 'function') {
    throw new QuiverError(
      'OAUTH_VALIDATOR_MISSING',
      'OAuth protection without validateToken would accept every token. Use createJwtValidator(), createIntrospectionValidator() or your own function.',
    );
  }
  if (!Array.isArray(oauth.authorizationServers) || oauth.authorizationServers.length === 0) {
    throw new QuiverError(
      'OAUTH_AUTHORIZATION_SERVERS_MISSING',
      'oauth.authorizationServers is empty. List the issuers whose tokens are accepted.',
    );
  }
  for (const issuer of oauth.authorizationServers) requireSecureUrl(issuer, 'an authorization server');
}
