import { defineProject } from 'vitest/config';

/** Tests run against the packages' sources, never against a build that may be stale. */
const conditions = ['@quiver/source'];

/** The projects of `vitest.config.ts`: one per package, so that a failing test names the package it belongs to. */
export const projects = ['core', 'mcp', 'rag'].map((name) =>
  defineProject({
    root: `packages/${name}`,
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      include: ['src/**/*.test.ts'],
      typecheck: { enabled: true, include: ['src/**/*.test-d.ts'] },
      testTimeout: 20_000,
      // Machines that run many tests at once are slow; a poll ends as soon as it can.
      expect: { poll: { timeout: 10_000 } },
    },
  }),
);

export default projects;
