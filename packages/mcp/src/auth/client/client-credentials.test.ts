import { createClientCredentialsProvider } from '@quiver/mcp/auth';
import { exportPKCS8, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { setUp } from '../../../test/oauth/oauth-stage.ts';

describe('client credentials', () => {
  it('gets a token with a secret, in the header, without a user', async () => {
    const { mcp, callWith, as } = await setUp();
    const provider = createClientCredentialsProvider({ clientId: 'bot', clientSecret: 's3cret', scope: 'mcp:read' });
    expect((await callWith(provider)).status).toBe(200);
    expect(as.authorizations[0]).toBe(`Basic ${Buffer.from('bot:s3cret').toString('base64')}`);
    expect(Object.fromEntries(as.tokenRequests[0] ?? [])).toEqual({
      grant_type: 'client_credentials',
      scope: 'mcp:read',
      resource: mcp.url,
    });
  });

  it('sends `-`, `_` and `.` of an id and a secret unencoded, and form-encodes the rest', async () => {
    const { callWith, as } = await setUp();
    const provider = createClientCredentialsProvider({ clientId: 'my-bot_1.0', clientSecret: 'a+b c:d' });
    expect((await callWith(provider)).status).toBe(200);
    const [, credentials = ''] = (as.authorizations[0] ?? '').split(' ');
    expect(atob(credentials)).toBe('my-bot_1.0:a%2Bb+c%3Ad');
  });

  it('authenticates in the body where the server supports nothing else', async () => {
    const { callWith, as } = await setUp({
      metadata: (metadata) => ({ ...metadata, token_endpoint_auth_methods_supported: ['client_secret_post'] }),
    });
    const provider = createClientCredentialsProvider({ clientId: 'bot', clientSecret: 's3cret' });
    expect((await callWith(provider)).status).toBe(200);
    expect(as.authorizations[0]).toBeUndefined();
    expect(Object.fromEntries(as.tokenRequests[0] ?? [])).toMatchObject({ client_id: 'bot', client_secret: 's3cret' });
  });

  it('gets a token with a signed assertion', async () => {
    const { callWith, as } = await setUp();
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const provider = createClientCredentialsProvider({ clientId: 'bot', privateKey: await exportPKCS8(privateKey) });
    expect((await callWith(provider)).status).toBe(200);
    const [, payload] = (as.tokenRequests[0]?.get('client_assertion') ?? '').split('.');
    expect(JSON.parse(Buffer.from(String(payload), 'base64url').toString())).toMatchObject({
      iss: 'bot',
      sub: 'bot',
      aud: as.issuer,
    });
    expect(as.authorizations[0]).toBeUndefined();
  });

  it('shows neither secret nor assertion to an authorization server that it was not made for', async () => {
    const { as, callWith } = await setUp();
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    for (const proof of [{ clientSecret: 's3cr3t' }, { privateKey: await exportPKCS8(privateKey) }]) {
      const options = { clientId: 'bot', issuer: 'https://auth.example.com', ...proof };
      const provider = createClientCredentialsProvider(options);
      await expect(callWith(provider)).rejects.toMatchObject({ code: 'OAUTH_ISSUER_UNEXPECTED' });
    }
    expect([as.tokenRequests.length, as.registrations.length]).toEqual([0, 0]);
  });

  it('does not use a registration that another client has stored for another authorization server', async () => {
    const { as, mcp, callWith, provider, storage } = await setUp();
    const user = provider();
    user.bind(mcp.url);
    await user.saveClientInformation({ client_id: 'user' }, { issuer: as.issuer });
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const bot = createClientCredentialsProvider({
      clientId: 'bot',
      issuer: 'https://auth.example.com',
      privateKey: await exportPKCS8(privateKey),
      storage,
    });
    await expect(callWith(bot)).rejects.toMatchObject({ code: 'OAUTH_ISSUER_UNEXPECTED' });
    expect(as.tokenRequests).toHaveLength(0);
  });
});
