import { join } from 'node:path';
import { defineProject } from 'vitest/config';

/** Tests run against the packages' sources, never against a build that may be stale. */
const conditions = ['@quiver/source'];
/** Worker threads inherit the settings of their process: with these, they run sources as well. */
const execArgv = [
  ...conditions.map((condition) => `--conditions=${condition}`),
  '--import',
  join(import.meta.dirname, 'scripts/source-hooks.mjs'),
];

/** The projects of `vitest.config.ts`: one per package, so that a failing test names the package it belongs to. */
export const projects = ['core', 'mcp', 'rag', 'loaders'].map((name) =>
  defineProject({
    root: `packages/${name}`,
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      ...(name === 'loaders' && { execArgv }),
      include: ['src/**/*.test.ts'],
      setupFiles: [join(import.meta.dirname, 'scripts/property-seed.ts')],
      typecheck: { enabled: true, include: ['src/**/*.test-d.ts'] },
      // Limits end tests that hang. They leave room for machines that run many programs at once; a poll ends as soon as it can.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
    },
  }),
);

export default projects;
