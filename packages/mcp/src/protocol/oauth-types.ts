/**
 * The shapes of OAuth messages, from the official schemas, and the provider interface of the official SDKs. Types only: nothing is
 * loaded.
 *
 * @module
 */
import type {
  OAuthClientInformationFullSchema,
  OAuthClientInformationSchema,
  OAuthClientMetadataSchema,
  OAuthMetadataSchema,
  OAuthProtectedResourceMetadataSchema,
  OAuthTokensSchema,
  OpenIdProviderDiscoveryMetadataSchema,
} from '@modelcontextprotocol/core';
import type { Output } from './types.js';

/** Description of a client in a registration. */
export type OAuthClientMetadata = Output<typeof OAuthClientMetadataSchema>;

/** Token response with the issuer of the tokens. */
export type StoredOAuthTokens = Output<typeof OAuthTokensSchema>;

/** Registration of a client with the issuer that it is registered at. */
export type StoredOAuthClientInformation =
  | Output<typeof OAuthClientInformationSchema>
  | Output<typeof OAuthClientInformationFullSchema>;

export type ProtectedResourceMetadata = Output<typeof OAuthProtectedResourceMetadataSchema>;

export type AuthorizationServerMetadata =
  | Output<typeof OAuthMetadataSchema>
  | Output<typeof OpenIdProviderDiscoveryMetadataSchema>;

export interface OAuthDiscoveryState {
  authorizationServerUrl: string;
  authorizationServerMetadata?: AuthorizationServerMetadata;
  resourceMetadata?: ProtectedResourceMetadata;
  resourceMetadataUrl?: string;
}

/** The authorization server that a registration or a token belongs to. */
export interface OAuthClientInformationContext {
  issuer: string;
}

/** Adds the client's credentials to a token request. */
export type AddClientAuthentication = (
  headers: Headers,
  params: URLSearchParams,
  url: string | URL,
  metadata?: AuthorizationServerMetadata,
) => void | Promise<void>;

/** The part of the SDK's `OAuthClientProvider` that this client uses. Providers for the SDK serve unchanged. */
export interface OAuthClientProvider {
  get redirectUrl(): string | URL | undefined;
  clientMetadataUrl?: string;
  get clientMetadata(): OAuthClientMetadata;
  state?(): string | Promise<string>;
  clientInformation(
    context?: OAuthClientInformationContext,
  ): StoredOAuthClientInformation | undefined | Promise<StoredOAuthClientInformation | undefined>;
  saveClientInformation?(
    information: StoredOAuthClientInformation,
    context?: OAuthClientInformationContext,
  ): void | Promise<void>;
  tokens(
    context?: OAuthClientInformationContext,
  ): StoredOAuthTokens | undefined | Promise<StoredOAuthTokens | undefined>;
  saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): void | Promise<void>;
  redirectToAuthorization(authorizationUrl: URL): void | Promise<void>;
  saveCodeVerifier(codeVerifier: string): void | Promise<void>;
  codeVerifier(): string | Promise<string>;
  addClientAuthentication?: AddClientAuthentication;
  prepareTokenRequest?(scope?: string): URLSearchParams | Promise<URLSearchParams | undefined> | undefined;
  invalidateCredentials?(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void | Promise<void>;
}
