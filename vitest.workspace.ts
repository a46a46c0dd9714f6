import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineProject, type TestProjectInlineConfiguration } from 'vitest/config';

type TestProjectOptions = NonNullable<TestProjectInlineConfiguration['test']>;

/** Tests run against the packages' sources, never against a build that may be stale. */
const conditions = ['@quiver/source'];
/** Worker threads inherit the settings of their process: with these, they run sources as well. */
const execArgv = [
  ...conditions.map((condition) => `--conditions=${condition}`),
  '--import',
  join(import.meta.dirname, 'scripts/source-hooks.mjs'),
];

/** The tests of all packages use the development tools, which no package depends on: `@quiver/devtools` depends on them. */
const devtools = join(import.meta.dirname, 'packages/devtools');
const { exports } = JSON.parse(readFileSync(join(devtools, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { '@quiver/source': string }>;
};
const alias = Object.entries(exports).flatMap(([subpath, target]) =>
  typeof target === 'string'
    ? []
    : [
        {
          find: new RegExp(`^@quiver/devtools${subpath.slice(1)}$`),
          replacement: join(devtools, target['@quiver/source']),
        },
      ],
);

/** Tests whose name says that they need a process in which nothing ran before, see `projects`. */
const isolatedTests = 'src/**/*.isolated.test.ts';

/**
 * The projects of `vitest.config.ts`: one per package, so that a failing test names the package it belongs to. The test files of a package
 * share the modules that a process has loaded, which halves the time of a run: a test that replaces a module or a global restores it.
 */
export const projects = ['core', 'mcp', 'rag', 'loaders', 'devtools'].flatMap((name) => {
  const project = (test: TestProjectOptions) =>
    defineProject({
      root: `packages/${name}`,
      resolve: { conditions, alias },
      ssr: { resolve: { conditions, externalConditions: conditions } },
      test: {
        ...(name === 'loaders' && { execArgv }),
        setupFiles: [join(import.meta.dirname, 'scripts/property-seed.ts')],
        restoreMocks: true,
        unstubEnvs: true,
        unstubGlobals: true,
        // Limits end tests that hang. They leave room for machines that run many programs at once; a poll ends as soon as it can.
        testTimeout: 120_000,
        hookTimeout: 120_000,
        expect: { poll: { timeout: 60_000 } },
        ...test,
      },
    });
  const shared = project({ name, include: ['src/**/*.test.ts'], exclude: [isolatedTests], isolate: false });
  return name === 'rag' ? [shared, project({ name: 'rag isolated', include: [isolatedTests] })] : [shared];
});

export default projects;
