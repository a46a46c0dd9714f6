/**
 * `@quiver/devtools/testing/vitest`: the parts of the test kit that need Vitest.
 *
 * @module
 */
import { describe } from 'vitest';
import { protocols } from './describe-eras.js';
import { createMatchers, type McpAssertions, type McpMatchers } from './matchers.js';
import type { TestProtocol } from './test-client.js';

export type { MatcherOutcome, McpAssertions, McpMatchers, TextPattern } from './matchers.js';
export type { AskedKind, TestProtocol } from './test-client.js';

/** Describes the same tests in both protocol eras. */
export function describeEras(tests: (protocol: TestProtocol) => void): void {
  for (const protocol of protocols) describe(`${protocol} era`, () => void tests(protocol));
}

/**
 * Matchers for `expect.extend()`: `toOfferTool`, `toReturnResult`, `toFailWith` and `toAsk`. Values are compared as by `toEqual()`, also with
 * `expect.any()` and its like.
 *
 * @example
 * expect.extend(mcpMatchers);
 * await expect(client.call('add', { a: 1, b: 2 })).toReturnResult({ sum: 3 });
 */
export const mcpMatchers: McpMatchers = Object.fromEntries(
  (['toOfferTool', 'toReturnResult', 'toFailWith', 'toAsk'] as const).map((name) => [
    name,
    function (this: { equals: (a: unknown, b: unknown) => boolean }, received: unknown, ...args: [never, never]) {
      return createMatchers(this.equals)[name](received, ...args);
    },
  ]),
  // Vitest sets `this`, which the type of a matcher does not name.
) as unknown as McpMatchers;

declare module 'vitest' {
  // The parameters must be those of Vitest 5; Vitest 4 has others, which matters with `skipLibCheck: false` only.
  // oxlint-disable-next-line no-unused-vars
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends McpAssertions {}
}
