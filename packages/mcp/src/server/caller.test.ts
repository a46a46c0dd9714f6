import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Caller, principalOf, toAuthInfo } from './caller.js';

describe('a principal', () => {
  it('distinguishes equal subjects of two issuers', () => {
    const known = [
      { extra: { subject: '1' } },
      { extra: { subject: '1', issuer: 'https://a.example' } },
      { extra: { subject: '1', issuer: 'https://b.example' } },
      { extra: { sub: '1', iss: 'https://a.example' } },
      { extra: { userId: 1 } },
      { token: '1' },
      { clientId: '1' },
      { clientId: '1', extra: { iss: 'https://a.example' } },
    ];
    expect(new Set(known.map((authInfo) => principalOf(authInfo))).size).toBe(known.length);
  });

  it('does not depend on the member that names the issuer, or on the token', () => {
    const variants = [
      { extra: { subject: '1', issuer: 'https://a.example' }, token: 'first' },
      { extra: { subject: '1', iss: 'https://a.example' }, token: 'second' },
      { extra: { subject: '1', claims: { iss: 'https://a.example' } }, clientId: 'another' },
      toAuthInfo({ subject: '1', issuer: 'https://a.example' }) ?? {},
    ];
    expect(new Set(variants.map((authInfo) => principalOf(authInfo))).size).toBe(1);
  });

  it('cannot be made to look like another by odd characters', () => {
    const identity = fc.record({ subject: fc.string(), issuer: fc.string({ minLength: 1 }) });
    fc.assert(
      fc.property(identity, identity, (one, two) => {
        const isSame = one.subject === two.subject && one.issuer === two.issuer;
        expect(principalOf({ extra: one }) === principalOf({ extra: two })).toBe(isSame);
      }),
    );
  });
});

test.each([
  ['ada', '192.0.2.7', '["token","ada"]'],
  [undefined, '192.0.2.7', 'address 192.0.2.7'],
  [undefined, '2001:db8::7', 'address 2001:db8:0:0::/64'],
  [undefined, '127.0.0.1', undefined],
  [undefined, undefined, undefined],
])('the key of a caller with the token %s at %s is %s', (token, remoteAddress, key) => {
  const http = { headers: {}, toolAccess: undefined, remoteAddress };
  expect(new Caller({ authInfo: token === undefined ? undefined : { token }, http }).key).toBe(key);
});
