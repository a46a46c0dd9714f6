import { defined } from '../../defined.js';
import { invalidToken, type TokenValidationResult } from './token-validator.js';

export interface ClaimRules {
  /** The identifier of this server, compared as an exact string. */
  readonly resource: string;
  readonly allowMissingAudience: boolean;
  readonly allowMissingExpiry: boolean;
  readonly issuer: string | undefined;
  /** Seconds that two clocks may differ. */
  readonly clockTolerance: number;
  /** Seconds since 1970. */
  readonly now: number;
}

/**
 * Validates the claims of a token by the rules of this server: the same for introspection and for JWTs.
 *
 * @see [RFC 7662, section 2.2 – Introspection Response](https://www.rfc-editor.org/rfc/rfc7662.html#section-2.2)
 * @see [RFC 8707, section 2 – Resource Parameter](https://www.rfc-editor.org/rfc/rfc8707.html#section-2)
 * @see [RFC 9449, section 6 – Public Key Confirmation](https://www.rfc-editor.org/rfc/rfc9449.html#section-6)
 */
export function validateClaims(claims: Record<string, unknown>, rules: ClaimRules): TokenValidationResult {
  const { exp, nbf, aud, iss, sub, client_id: clientId, azp, cnf } = claims;
  const { now, clockTolerance, issuer } = rules;
  if (exp === undefined && !rules.allowMissingExpiry) return invalidToken('Token has no expiry');
  if (exp !== undefined && !isSeconds(exp)) return invalidToken('Token expiry is not a time');
  if (exp !== undefined && exp + clockTolerance <= now) return invalidToken('Token has expired');
  if (nbf !== undefined && !isSeconds(nbf)) return invalidToken('Token start is not a time');
  if (nbf !== undefined && nbf - clockTolerance > now) return invalidToken('Token is not valid yet');
  if (issuer !== undefined && iss !== issuer) return invalidToken('Token issuer is not accepted here');
  if (aud === undefined ? !rules.allowMissingAudience : ![aud].flat().includes(rules.resource)) {
    return invalidToken('Token audience does not match this resource');
  }
  // RFC 7800: such a token is worth nothing without a proof of its key, and no proof is checked here.
  if (cnf !== undefined) return invalidToken('Token is bound to a key, which this server does not support');
  const scopes = scopesOf(claims);
  if (!scopes) return invalidToken('Token scope is malformed');
  const client = typeof clientId === 'string' ? clientId : typeof azp === 'string' ? azp : undefined;
  return {
    valid: true,
    scopes,
    ...(typeof sub === 'string' && sub !== '' && { subject: sub }),
    ...(typeof iss === 'string' && { issuer: iss }),
    ...defined({ clientId: client, expiresAt: exp }),
    claims,
  };
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** `scope` is text; `scp`, which some servers send instead, may be a list. */
function scopesOf({ scope, scp = [] }: Record<string, unknown>): string[] | undefined {
  if (scope !== undefined && typeof scope !== 'string') return undefined;
  const scopes = scope ?? scp;
  if (typeof scopes === 'string') return scopes.split(' ').filter((entry) => entry !== '');
  return Array.isArray(scopes) && scopes.every((entry) => typeof entry === 'string') ? scopes : undefined;
}
