import type { OAuthDiscoveryState } from '../../protocol/oauth-types.js';

/** Who an authorization server is: the issuer it names, or its address where it publishes no metadata. */
export function issuerOf({ authorizationServerMetadata, authorizationServerUrl }: OAuthDiscoveryState): string {
  return authorizationServerMetadata?.issuer ?? authorizationServerUrl;
}
