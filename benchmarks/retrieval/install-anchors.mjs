import { installPackages } from '../install-packages.mjs';

const packages = ['sqlite-vec@0.1.9', '@lancedb/lancedb@0.39.0', 'minisearch@7.2.0', '@orama/orama@3.1.18'];
const programs = ['sqlite-vec.mjs', 'lancedb.mjs', 'minisearch.mjs', 'orama.mjs'];

/**
 * Other people's engines (about 600 MB), until `remove`.
 *
 * @returns the modules `sqliteVec`, `lance`, `minisearch` and `orama`, which use them
 */
export async function installAnchors() {
  const { load, remove } = installPackages(
    packages,
    programs.map((name) => new URL(`anchors/${name}`, import.meta.url)),
  );
  const [sqliteVec, lance, minisearch, orama] = await Promise.all(programs.map(load));
  return { sqliteVec, lance, minisearch, orama, remove };
}
