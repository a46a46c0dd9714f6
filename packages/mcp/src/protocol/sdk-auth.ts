/**
 * What is taken from the SDK's OAuth client at run time. It comes with the whole client package, so it is imported dynamically,
 * when the first server asks for a token.
 *
 * @module
 */
export {
  auth,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  OAuthError,
  refreshAuthorization,
  registerClient,
  resolveClientMetadata,
} from '@modelcontextprotocol/client';
