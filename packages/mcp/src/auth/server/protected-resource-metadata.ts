import { unchecked, checkOptions, type OptionChecks } from '@quiver/core/internal';
import { defined } from '../../defined.js';

/** Metadata that clients need to get a token for a server. */
export interface ProtectedResourceMetadata {
  resource: string;
  authorization_servers: string[];
  /** Absent where none are known. */
  scopes_supported?: string[];
  bearer_methods_supported: string[];
  resource_name?: string;
  resource_documentation?: string;
}

/** Members of a protected resource metadata document. */
export interface ProtectedResourceOptions {
  /** The identifier of this server: its public URL. Tokens must be issued for exactly this text. */
  resource: string;
  /** Issuers whose tokens are accepted. */
  authorizationServers: readonly string[];
  /** Scopes that clients may request. Default: those that requests or tools require; if there are none, none are advertised. */
  scopesSupported?: readonly string[];
  /** Name of the server for users. */
  resourceName?: string;
  /** URL of the documentation for developers. */
  resourceDocumentation?: string;
}

export const resourceChecks: OptionChecks<ProtectedResourceOptions> = {
  ...unchecked<ProtectedResourceOptions>()('resource', 'authorizationServers', 'scopesSupported'),
  ...unchecked<ProtectedResourceOptions>()('resourceName', 'resourceDocumentation'),
};

/**
 * Returns the metadata document of a protected resource.
 *
 * @see [RFC 9728, section 2 – Protected Resource Metadata](https://www.rfc-editor.org/rfc/rfc9728.html#section-2)
 */
export function generateProtectedResourceMetadata(options: ProtectedResourceOptions): ProtectedResourceMetadata {
  // The options of the middleware are those of the resource too.
  checkOptions<object>('generateProtectedResourceMetadata', options, {
    ...resourceChecks,
    ...unchecked<Record<string, unknown>>()('validateToken', 'validationTimeout', 'cacheTtl'),
    ...unchecked<Record<string, unknown>>()('requiredScopes', 'toolScopes', 'exposeToken'),
  });
  const { resource, authorizationServers, scopesSupported = [] } = options;
  const { resourceName, resourceDocumentation } = options;
  return {
    resource,
    authorization_servers: [...authorizationServers],
    // An authorization server may refuse a scope that it does not know.
    ...(scopesSupported.length > 0 && { scopes_supported: [...scopesSupported] }),
    bearer_methods_supported: ['header'],
    ...defined({ resource_name: resourceName, resource_documentation: resourceDocumentation }),
  };
}

export const wellKnownPath = '/.well-known/oauth-protected-resource';

/**
 * Returns the URL of the metadata of a resource: the well-known path is inserted between host and path.
 *
 * @see [RFC 9728, section 3.1 – Protected Resource Metadata Request](https://www.rfc-editor.org/rfc/rfc9728.html#section-3.1)
 */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}${wellKnownPath}${pathname === '/' ? '' : pathname}${search}`;
}
