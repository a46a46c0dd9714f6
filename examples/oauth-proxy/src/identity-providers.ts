import * as oauth from 'oauth4webapi';

/** An identity provider at which this program is registered, by hand, as one client. */
export interface IdentityProvider {
  /** Label of the button. */
  label: string;
  server: oauth.AuthorizationServer &
    Required<Pick<oauth.AuthorizationServer, 'authorization_endpoint' | 'token_endpoint' | 'userinfo_endpoint'>>;
  clientId: string;
  clientSecret: string;
  scope: string;
  /** Member of the response of `userinfo_endpoint` that identifies a user and never changes. */
  subject: 'id' | 'sub';
}

type Credentials = Pick<IdentityProvider, 'clientId' | 'clientSecret'>;

export function github(credentials: Credentials): IdentityProvider {
  const server = {
    issuer: 'https://github.com/login/oauth',
    authorization_endpoint: 'https://github.com/login/oauth/authorize',
    token_endpoint: 'https://github.com/login/oauth/access_token',
    userinfo_endpoint: 'https://api.github.com/user',
  };
  return { label: 'GitHub', server, scope: 'read:user', subject: 'id', ...credentials };
}

export function google(credentials: Credentials): IdentityProvider {
  const server = {
    issuer: 'https://accounts.google.com',
    authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_endpoint: 'https://oauth2.googleapis.com/token',
    userinfo_endpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
  };
  return { label: 'Google', server, scope: 'openid', subject: 'sub', ...credentials };
}

/** @param tenant - ID of one directory: with `common`, tokens name another issuer than this one, and are rejected */
export function entra(tenant: string, credentials: Credentials): IdentityProvider {
  const origin = 'https://login.microsoftonline.com';
  const server = {
    issuer: `${origin}/${tenant}/v2.0`,
    authorization_endpoint: `${origin}/${tenant}/oauth2/v2.0/authorize`,
    token_endpoint: `${origin}/${tenant}/oauth2/v2.0/token`,
    userinfo_endpoint: 'https://graph.microsoft.com/oidc/userinfo',
  };
  return { label: 'Microsoft', server, scope: 'openid', subject: 'sub', ...credentials };
}

/** State of a sign-in, needed when the user returns from the provider. */
export interface SignIn {
  name: string;
  state: string;
  verifier: string;
}

/** Begins a sign-in. The page is at the provider, which returns users to `redirectUri`. */
export async function beginSignIn(
  { server, clientId, scope }: IdentityProvider,
  { state, verifier }: SignIn,
  redirectUri: string,
): Promise<URL> {
  const page = new URL(server.authorization_endpoint);
  page.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  return page;
}

/**
 * Ends a sign-in and returns the ID of the user. The token of the provider is used for this one question and then forgotten.
 *
 * @throws for another state, a rejected code, or a response without the ID
 */
export async function endSignIn(
  { server, clientId, clientSecret, subject }: IdentityProvider,
  { name, state, verifier }: SignIn,
  callback: URL,
  redirectUri: string,
): Promise<string> {
  const client = { client_id: clientId };
  const options = { [oauth.allowInsecureRequests]: new URL(server.token_endpoint).hostname === '127.0.0.1' };
  const callbackParameters = oauth.validateAuthResponse(server, client, callback, state);
  const authentication = oauth.ClientSecretPost(clientSecret);
  const granted = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    callbackParameters,
    redirectUri,
    verifier,
    options,
  );
  const { access_token: token } = await oauth.processAuthorizationCodeResponse(server, client, granted);
  const endpoint = new URL(server.userinfo_endpoint);
  const answer = await oauth.protectedResourceRequest(token, 'GET', endpoint, undefined, undefined, options);
  const user = (await answer.json()) as Record<string, unknown>;
  const id = user[subject];
  if (typeof id !== 'string' && typeof id !== 'number') throw new Error(`${name} named no user.`);
  return `${name}:${id}`;
}
