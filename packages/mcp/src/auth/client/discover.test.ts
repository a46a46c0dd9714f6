import { describe, expect, it } from 'vitest';
import { serveHttp } from '../../../test/after-test.ts';
import { discover } from './discover.js';

/** Responses of a site by path: JSON, a page, or a status without either. Other paths are 404. */
type Site = Record<string, object | string | number>;

/** An MCP server at `/mcp` and its authorization server on one origin, with the requested paths in order. */
async function serve(siteOf: (origin: string) => Site): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  let site: Site = {};
  const { origin } = await serveHttp((req, res) => {
    asked.push(req.url ?? '');
    const answer = site[req.url ?? ''] ?? 404;
    if (typeof answer === 'number') res.writeHead(answer).end();
    else if (typeof answer === 'string') res.writeHead(200, { 'content-type': 'text/html' }).end(answer);
    else res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  site = siteOf(origin);
  return { origin, asked };
}

const ask = (origin: string, more: object = {}): ReturnType<typeof discover> =>
  discover({
    serverUrl: new URL(`${origin}/mcp`),
    fetch: globalThis.fetch,
    policy: { skipIssuerMetadataValidation: false },
    ...more,
  });

const resource = '/.well-known/oauth-protected-resource';
const oauth = '/.well-known/oauth-authorization-server';
const openid = '/.well-known/openid-configuration';
const page = '<!doctype html><title>Welcome</title>';

const describeResource = (origin: string, issuer = `${origin}/tenant`): object => ({
  resource: `${origin}/mcp`,
  authorization_servers: [issuer],
});
const describeIssuer = (issuer: string): object => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
});

describe('discover finds the metadata of a protected resource', () => {
  const places: [string, string, (Site & object)?][] = [
    ['at the URL that the server names', '/elsewhere.json'],
    ['at the path form', `${resource}/mcp`],
    ['at the path form, when the server names nothing that is there', `${resource}/mcp`, { '/elsewhere.json': 404 }],
    [
      'at the path form, when the URL that the server names serves a page',
      `${resource}/mcp`,
      { '/elsewhere.json': page },
    ],
    ['at the root', resource],
    ['at the root, when there is a page at the path form', resource, { [`${resource}/mcp`]: page }],
    ['at the root, when the path form is forbidden', resource, { [`${resource}/mcp`]: 403 }],
  ];
  it.each(places)('%s', async (_what, place, others = {}) => {
    const { origin, asked } = await serve((at) => ({
      ...others,
      [place]: describeResource(at),
      [`${oauth}/tenant`]: describeIssuer(`${at}/tenant`),
    }));
    const isNamed = place === '/elsewhere.json' || '/elsewhere.json' in others;
    const found = await ask(origin, isNamed ? { resourceMetadataUrl: new URL(`${origin}/elsewhere.json`) } : {});
    expect(found.resourceMetadata?.resource).toBe(`${origin}/mcp`);
    expect(found.authorizationServerMetadata?.issuer).toBe(`${origin}/tenant`);
    expect(asked.at(-1)).toBe(`${oauth}/tenant`);
  });

  it('treats a server without metadata as its own authorization server, as in 2025-03-26', async () => {
    const { origin, asked } = await serve(() => ({}));
    expect(await ask(origin)).toEqual({ authorizationServerUrl: `${origin}/` });
    expect(asked).toEqual([`${resource}/mcp`, resource, oauth, openid]);
  });
});

it.each<[string, string, (origin: string) => object]>([
  ['OAUTH_RESOURCE_MISMATCH', 'for another origin', () => ({ resource: 'https://other.example/mcp' })],
  ['OAUTH_RESOURCE_MISMATCH', 'for another path', (origin) => ({ resource: `${origin}/mcp2` })],
  ['OAUTH_RESOURCE_MISMATCH', 'for a value that is not a URL', () => ({ resource: 'mcp' })],
  ['OAUTH_RESOURCE_MISMATCH', 'for another tenant', (origin) => ({ resource: `${origin}/mcp?tenant=b` })],
  ['OAUTH_RESOURCE_MISMATCH', 'with a fragment', (origin) => ({ resource: `${origin}/mcp#a` })],
  ['OAUTH_RESOURCE_MISMATCH', 'with credentials', (origin) => ({ resource: `${origin.replace('//', '//u:p@')}/mcp` })],
  ['OAUTH_METADATA_INVALID', 'without a resource', () => ({})],
  [
    'OAUTH_METADATA_INVALID',
    'with servers that are not a list',
    (origin) => ({ resource: `${origin}/mcp`, authorization_servers: 'https://auth.example' }),
  ],
])(
  'rejects the metadata of a protected resource with %s, %s, without another request',
  async (code, _what, metadata) => {
    const { origin, asked } = await serve((at) => ({ [`${resource}/mcp`]: metadata(at), [resource]: metadata(at) }));
    await expect(ask(origin)).rejects.toMatchObject({ code });
    expect(asked).toEqual([`${resource}/mcp`]);
  },
);

it('reports neither control characters of the server nor the query of its URL', async () => {
  const hostile = 'https://other.example/\u001B[2J\n\nSigned in';
  for (const metadata of [
    { resource: hostile },
    { authorization_servers: [hostile] },
    { authorization_servers: ['https://auth.example'], issuer: hostile },
  ]) {
    const serverUrl = new URL('https://mcp.example/mcp?api_key=s3cr3t');
    const fetch = async (): Promise<Response> =>
      Response.json({ resource: 'https://mcp.example/mcp', issuer: 'i', token_endpoint: 't', ...metadata });
    const error = await ask('https://mcp.example', { serverUrl, fetch }).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/^QuiverError: /);
    expect(String(error)).not.toMatch(/\p{Cc}|s3cr3t/u);
  }
});

it.each([
  ['in the form of RFC 8414', `${oauth}/tenant`, {}],
  ['in the form of OpenID Connect with the path at the end', `${openid}/tenant`, {}],
  ['in the form of OpenID Connect with the path in front', `/tenant${openid}`, {}],
  ['behind pages', `/tenant${openid}`, { [`${oauth}/tenant`]: page, [`${openid}/tenant`]: page }],
  ['behind a proxy that responds with 502', `/tenant${openid}`, { [`${oauth}/tenant`]: 502 }],
])('finds the metadata of an authorization server %s', async (_what, place, others) => {
  const { origin } = await serve((at) => ({
    ...others,
    [`${resource}/mcp`]: describeResource(at),
    [place]: describeIssuer(`${at}/tenant`),
  }));
  const { authorizationServerMetadata } = await ask(origin);
  expect(authorizationServerMetadata?.token_endpoint).toBe(`${origin}/tenant/token`);
});

it.each([`${resource}/mcp`, `${oauth}/tenant`])(
  'does not treat %s of an unavailable server as missing',
  async (place) => {
    const { origin, asked } = await serve((at) => ({ [`${resource}/mcp`]: describeResource(at), [place]: 503 }));
    await expect(ask(origin)).rejects.toMatchObject({ code: 'OAUTH_UNAVAILABLE' });
    expect(asked.at(-1)).toBe(place);
  },
);

describe('discover of metadata that names another issuer', () => {
  const site = (at: string): Site => ({
    [`${resource}/mcp`]: describeResource(at),
    [`${oauth}/tenant`]: describeIssuer(`${at}/other`),
  });

  it('rejects it', async () => {
    const { origin } = await serve(site);
    await expect(ask(origin)).rejects.toThrow(/issuer/i);
  });

  it('accepts it with skipIssuerMetadataValidation', async () => {
    const { origin } = await serve(site);
    const { authorizationServerMetadata } = await ask(origin, { policy: { skipIssuerMetadataValidation: true } });
    expect(authorizationServerMetadata?.issuer).toBe(`${origin}/other`);
  });
});
