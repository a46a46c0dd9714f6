import { describe } from 'node:test';
import type { TestProtocol } from './test-client.js';

/** Protocol eras that a test runs in. */
export const protocols: readonly TestProtocol[] = ['legacy', 'modern'];

/**
 * Describes the same tests of `node:test` in both protocol eras. For Vitest, import it from `@quiver/devtools/testing/vitest`.
 *
 * @example
 * import { test } from 'node:test';
 *
 * describeEras((protocol) => {
 *   test('adds numbers', async () => {
 *     await using client = await createTestClient(server, { protocol });
 *     await expectMcp(client.call('add', { a: 1, b: 2 })).toReturnResult({ sum: 3 });
 *   });
 * });
 */
export function describeEras(tests: (protocol: TestProtocol) => void): void {
  for (const protocol of protocols) void describe(`${protocol} era`, () => tests(protocol));
}
