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

const build: Options = {
  ...libraryBuild(import.meta.dirname),
  noExternal: ['zod-to-json-schema', 'zod/v3'],
  esbuildPlugins: [withoutZod],
};

export default build;
