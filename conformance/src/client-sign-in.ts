import {
  createClientCredentialsProvider,
  createEnterpriseManagedProvider,
  createJwtBearerProvider,
  finishAuthorization,
  MCPOAuthClientProvider,
} from '@quiver/mcp/auth';
import type { Scenario } from './scenario.ts';

export interface SignIn {
  readonly provider: MCPOAuthClientProvider;
  /** Runs the operation. If the server requires a user, completes the sign-in and runs the operation again. */
  signedIn<Result>(run: () => Promise<Result>): Promise<Result>;
}

const redirectUrl = 'http://localhost:3000/callback';

/** Acts as the user: the sign-in pages of the suites immediately redirect to the client. */
export function createSignIn(serverUrl: string, scenario: Scenario): SignIn {
  let callback: Parameters<typeof finishAuthorization>[0]['callback'] | undefined;
  const provider = createProvider(scenario, async (page) => {
    const answer = await fetch(page, { redirect: 'manual' });
    const { searchParams } = new URL(answer.headers.get('location') ?? redirectUrl);
    const [code, state, iss] = ['code', 'state', 'iss'].map((name) => searchParams.get(name) ?? undefined);
    if (code !== undefined) callback = { code, state, ...(iss !== undefined && { iss }) };
  });
  return {
    provider,
    signedIn: async (run) => {
      for (;;) {
        try {
          return await run();
        } catch (error) {
          if (!callback) throw error;
          const received = callback;
          callback = undefined;
          await finishAuthorization({ provider, serverUrl, callback: received });
        }
      }
    },
  };
}

function createProvider(
  { name, context }: Scenario,
  onRedirectToAuthorization: (page: URL) => Promise<void>,
): MCPOAuthClientProvider {
  const credentials = {
    clientId: context.client_id ?? '',
    ...(context.client_secret !== undefined && { clientSecret: context.client_secret }),
  };
  switch (name) {
    case 'auth/client-credentials-basic':
      return createClientCredentialsProvider(credentials);
    case 'auth/client-credentials-jwt': {
      const { private_key_pem: privateKey = '', signing_algorithm: algorithm = 'ES256' } = context;
      return createClientCredentialsProvider({ ...credentials, privateKey, algorithm });
    }
    case 'auth/wif-jwt-bearer':
      return createJwtBearerProvider({ ...credentials, assertion: () => context.valid_jwt ?? '' });
    case 'auth/cross-app-access-complete-flow':
    case 'auth/enterprise-managed-authorization':
      return createEnterpriseManagedProvider({
        ...credentials,
        identityProvider: {
          tokenEndpoint: context.idp_token_endpoint ?? '',
          clientId: context.idp_client_id ?? '',
          idToken: () => context.idp_id_token ?? '',
        },
      });
    default:
      return new MCPOAuthClientProvider({
        redirectUrl,
        clientMetadata: {
          client_name: 'Quiver conformance client',
          redirect_uris: [redirectUrl],
          grant_types: ['authorization_code', 'refresh_token'],
        },
        clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
        ...(context.client_id !== undefined && {
          clientInformation: { client_id: context.client_id, client_secret: context.client_secret },
        }),
        // Protocol version 2025-03-26 locates the metadata at the root, regardless of the issuer.
        skipIssuerMetadataValidation: name === 'auth/2025-03-26-oauth-metadata-backcompat',
        dpop: name === 'auth/dpop' || name === 'auth/dpop-nonce',
        onRedirectToAuthorization,
      });
  }
}
