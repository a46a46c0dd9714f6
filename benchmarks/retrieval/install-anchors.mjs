import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPackages } from '../install-packages.mjs';

const packages = ['@lancedb/lancedb@0.39.0', 'minisearch@7.2.0', '@orama/orama@3.1.18'];
const programs = ['lancedb.mjs', 'minisearch.mjs', 'orama.mjs'];

/** Modules of the vector engines. Each module reads its options from the query string. */
const ownVariants = ['sqlite-vec.mjs?partitioned', 'sqlite-vec.mjs?partitioned&memory'];
const variants = ['lancedb.mjs', 'lancedb.mjs?indexed', 'lancedb.mjs?indexed&approximate'];

/**
 * Installs third-party engines (about 600 MB); `remove` deletes them.
 *
 * @returns the modules that use them: `vectorEngines`, files for vector search, and `wordEngines`, modules for keyword search
 */
export async function installAnchors() {
  const { folder, load, remove } = installPackages(
    packages,
    programs.map((name) => new URL(`anchors/${name}`, import.meta.url)),
  );
  const wordEngines = await Promise.all(['minisearch.mjs', 'orama.mjs'].map(load));
  const vectorEngines = [
    ...ownVariants.map((name) => new URL(`anchors/${name}`, import.meta.url).href),
    ...variants.map((name) => pathToFileURL(join(folder, name.split('?')[0])).href + name.replace(/^[^?]*/, '')),
  ];
  return { vectorEngines, wordEngines, remove };
}
