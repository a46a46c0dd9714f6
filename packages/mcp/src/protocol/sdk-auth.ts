/**
 * What is taken from the SDK's OAuth client at run time. It comes with the whole client package, so it is imported dynamically,
 * when the first server asks for a token.
 *
 * @module
 */
export {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  exchangeAuthorization,
  fetchToken,
  OAuthError,
  refreshAuthorization,
  registerClient,
  requestJwtAuthorizationGrant,
  resolveClientMetadata,
  resourceUrlFromServerUrl,
  startAuthorization,
} from '@modelcontextprotocol/client';
