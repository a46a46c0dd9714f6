import { QuiverError } from '@quiver/core';

/**
 * Replaces the proxies on platforms whose bundles cannot contain the client.
 *
 * @throws `PROXY_UNAVAILABLE`
 */
export function createProxies(): never {
  throw new QuiverError(
    'PROXY_UNAVAILABLE',
    'MCPServer cannot proxy other servers on this platform. Run the gateway on Node.js, Deno or Bun.',
  );
}
