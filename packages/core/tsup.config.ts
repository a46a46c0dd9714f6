import type { Options } from 'tsup';
import { libraryBuild } from '../../scripts/build/library-build.ts';

/**
 * `zod-to-json-schema` is bundled: of zod it needs one enumeration, whose members are their own names, but its import of
 * `zod/v3` would make zod a requirement of every program and cost half of our import time (docs/decisions/0010-tool-contract.md).
 */
const withoutZod: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'zod-type-names',
  setup(build) {
    build.onResolve({ filter: /^zod\/v3$/ }, () => ({ path: 'zod-type-names', namespace: 'zod-type-names' }));
    build.onLoad({ filter: /.*/, namespace: 'zod-type-names' }, () => ({
      contents: 'export const ZodFirstPartyTypeKind = new Proxy({}, { get: (_target, name) => name });',
    }));
  },
};

const library = libraryBuild(import.meta.dirname) as Options;

const build: Options = {
  ...library,
  // A separate file, which imports a module of Node: bundlers drop it when they drop what calls it.
  entry: { ...(library.entry as Record<string, string>), 'load-builtin': './src/load-builtin.ts' },
  noExternal: ['zod-to-json-schema', 'zod/v3'],
  esbuildPlugins: [withoutZod],
};

export default build;
