import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPackages } from '../install-packages.mjs';

const packages = ['sqlite-vec@0.1.9', '@lancedb/lancedb@0.39.0', 'minisearch@7.2.0', '@orama/orama@3.1.18'];
const programs = ['sqlite-vec.mjs', 'lancedb.mjs', 'minisearch.mjs', 'orama.mjs', 'fts5.mjs'];

/** The part after the question mark is read by the module. */
const variants = [
  'sqlite-vec.mjs',
  'sqlite-vec.mjs?partitioned',
  'sqlite-vec.mjs?partitioned&memory',
  'lancedb.mjs',
  'lancedb.mjs?indexed',
  'lancedb.mjs?indexed&approximate',
];

/**
 * Other people's engines (about 600 MB), until `remove`.
 *
 * @returns what uses them: the files of `vectorEngines`, and `wordEngines`, modules for keyword search
 */
export async function installAnchors() {
  const { folder, load, remove } = installPackages(
    packages,
    programs.map((name) => new URL(`anchors/${name}`, import.meta.url)),
  );
  const wordEngines = await Promise.all(['minisearch.mjs', 'orama.mjs', 'fts5.mjs'].map(load));
  const vectorEngines = variants.map(
    (name) => pathToFileURL(join(folder, name.split('?')[0])).href + name.replace(/^[^?]*/, ''),
  );
  return { vectorEngines, wordEngines, remove };
}
