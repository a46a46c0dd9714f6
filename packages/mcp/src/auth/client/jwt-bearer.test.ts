import { createEnterpriseManagedProvider, createJwtBearerProvider } from '@quiver/mcp/auth';
import { describe, expect, it } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import { setUp as setUpStage } from '../../../test/oauth/oauth-stage.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** An authorization server that takes exactly one JWT. */
async function setUp(trusted: string) {
  const { as, mcp, callWith } = await setUpStage({
    token: (form, res) => {
      if (form.get('grant_type') !== grantType) return false;
      const isTrusted = form.get('assertion') === trusted;
      if (isTrusted) as.active.set('exchanged', ['mcp:read']);
      const answer = isTrusted ? { access_token: 'exchanged', token_type: 'Bearer' } : { error: 'invalid_grant' };
      res.writeHead(isTrusted ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return true;
    },
  });
  return { as, mcp, call: callWith };
}

describe('createJwtBearerProvider', () => {
  it('exchanges the JWT of a platform for a token, with issuer, resource and scope', async () => {
    const { as, mcp, call } = await setUp('workload-jwt');
    const asked: unknown[] = [];
    const provider = createJwtBearerProvider({
      clientId: 'nightly',
      assertion: (context) => {
        asked.push(context);
        return 'workload-jwt';
      },
    });
    expect((await call(provider)).status).toBe(200);
    expect((await call(provider)).status).toBe(200);
    expect(asked).toEqual([{ issuer: as.issuer, resource: mcp.url, scope: 'mcp:read' }]);
    const request = { grant_type: grantType, assertion: 'workload-jwt', scope: 'mcp:read', client_id: 'nightly' };
    expect(as.tokenRequests.map((form) => Object.fromEntries(form))).toEqual([{ ...request, resource: mcp.url }]);
  });

  it('shows nothing to an authorization server that it was not made for', async () => {
    const { as, mcp, call } = await setUp('workload-jwt');
    let asked = 0;
    const options = {
      clientId: 'nightly',
      clientSecret: 's3cr3t',
      assertion: () => {
        asked += 1;
        return 'workload-jwt';
      },
    };
    const elsewhere = createJwtBearerProvider({ ...options, issuer: 'https://auth.example.com' });
    await expect(call(elsewhere)).rejects.toMatchObject({ code: 'OAUTH_ISSUER_UNEXPECTED' });
    const moved = createJwtBearerProvider(options);
    moved.bind(mcp.url);
    await moved.clientInformation({ issuer: 'https://first.example.com' });
    await expect(call(moved)).rejects.toMatchObject({ code: 'OAUTH_ISSUER_UNEXPECTED' });
    expect([asked, as.tokenRequests.length, as.registrations.length]).toEqual([0, 0, 0]);
    expect((await call(createJwtBearerProvider({ ...options, issuer: as.issuer }))).status).toBe(200);
  });

  it('sends one request when the JWT is rejected', async () => {
    const { as, call } = await setUp('workload-jwt');
    const provider = createJwtBearerProvider({ clientId: 'nightly', assertion: () => 'expired-jwt' });
    const error = await call(provider).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'OAUTH_SIGN_IN_FAILED', details: { error: 'invalid_grant' } });
    expect(String(error)).not.toContain('expired-jwt');
    expect(as.tokenRequests).toHaveLength(1);
  });
});

describe('createEnterpriseManagedProvider', () => {
  async function startIdentityProvider(answer: (form: URLSearchParams) => [status: number, body: object]) {
    const forms: URLSearchParams[] = [];
    const { origin } = await serveHttp(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += String(chunk);
      const form = new URLSearchParams(body);
      forms.push(form);
      const [status, value] = answer(form);
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    });
    return { tokenEndpoint: `${origin}/token`, forms };
  }

  it('exchanges the sign-in at the company for a token of the server, without another page', async () => {
    const { as, mcp, call } = await setUp('id-jag');
    const issued = { access_token: 'id-jag', issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag' };
    const { tokenEndpoint, forms } = await startIdentityProvider(() => [200, { ...issued, token_type: 'N_A' }]);
    const provider = createEnterpriseManagedProvider({
      clientId: 'chat-at-server',
      clientSecret: 'secret',
      identityProvider: { tokenEndpoint, clientId: 'chat-at-company', idToken: () => 'id-token' },
    });
    expect((await call(provider)).status).toBe(200);
    expect(Object.fromEntries(forms[0] ?? [])).toMatchObject({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
      audience: as.issuer,
      resource: mcp.url,
      subject_token: 'id-token',
      client_id: 'chat-at-company',
    });
    expect(as.authorizations[0]).toBe(`Basic ${Buffer.from('chat-at-server:secret').toString('base64')}`);
  });

  it('names the error of the identity provider without repeating the ID token', async () => {
    const { as, call } = await setUp('id-jag');
    const { tokenEndpoint } = await startIdentityProvider((form) => [
      400,
      { error: 'access_denied', error_description: `not with ${form.get('subject_token')}` },
    ]);
    const provider = createEnterpriseManagedProvider({
      clientId: 'chat-at-server',
      identityProvider: { tokenEndpoint, clientId: 'chat-at-company', idToken: () => 's3cr3t-id-token' },
    });
    const error = await call(provider).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'OAUTH_TOKEN_EXCHANGE_FAILED',
      message: expect.stringContaining('access_denied') as string,
    });
    expect(String(error)).not.toContain('s3cr3t');
    expect(as.tokenRequests).toHaveLength(0);
  });

  it('rejects an identity provider without TLS', () => {
    expect(() =>
      createEnterpriseManagedProvider({
        clientId: 'c',
        identityProvider: { tokenEndpoint: 'http://idp.example/token', clientId: 'c', idToken: () => 't' },
      }),
    ).toThrow(expect.objectContaining({ code: 'OAUTH_URL_INSECURE' }) as Error);
  });
});
