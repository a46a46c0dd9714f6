import { createHash } from 'node:crypto';
import type { McpAuthInfo } from '@quiver/core/tools';
import type { TokenValidationResult } from './token-validator.js';

/**
 * What tools see of a validated token, as `context.mcp.extra.authInfo`. `extra` carries `subject`, `issuer` and `claims`. The token
 * itself is left out unless asked for: a tool that passes it on to another service breaks the audience rule.
 *
 * A token without a subject stands for itself: its fingerprint is the subject, so that two of them never share a session.
 *
 * @see [MCP, Token Passthrough](https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices#token-passthrough)
 */
export function toIdentity(
  token: string,
  { subject, issuer, scopes = [], clientId, expiresAt, claims }: TokenValidationResult,
  { resource, exposeToken }: { resource: string; exposeToken: boolean },
): McpAuthInfo {
  return {
    ...(exposeToken && { token }),
    ...(clientId !== undefined && { clientId }),
    scopes: [...scopes],
    ...(expiresAt !== undefined && { expiresAt }),
    resource,
    extra: {
      subject: subject ?? `token:${fingerprintOf(token)}`,
      ...(issuer !== undefined && { issuer }),
      ...(claims && { claims }),
    },
  };
}

function fingerprintOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url').slice(0, 22);
}
