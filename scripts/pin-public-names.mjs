// Writes scripts/public-names.json from the built packages: run it after an intended change of public names, and review the diff.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinned = {};
for (const name of ['core', 'mcp', 'rag', 'loaders', 'devtools'].filter((name) =>
  readdirSync(join(root, 'packages')).includes(name),
)) {
  const directory = join(root, 'packages', name);
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    // The names of `internal` are not public.
    if (typeof target === 'string' || subpath === './internal') continue;
    const values = Object.keys(await import(pathToFileURL(join(directory, target.default)).href)).toSorted();
    const types = exportedNames(join(directory, target.types))
      .filter((exported) => !values.includes(exported))
      .toSorted();
    pinned[`${manifest.name}${subpath.slice(1)}`] = { values, types };
  }
}
writeFileSync(join(root, 'scripts', 'public-names.json'), `${JSON.stringify(pinned, null, 2)}\n`);

/** Returns the names that a declaration file exports: export lists, declarations, and re-exports from its own package. */
function exportedNames(file) {
  const text = readFileSync(file, 'utf8');
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
    list
      .split(',')
      .map((item) =>
        item
          .trim()
          .replace(/^type /, '')
          .split(' as ')
          .at(-1),
      )
      .filter(Boolean),
  );
  const declared = [
    ...text.matchAll(/^export (?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/gm),
  ].map(([, name]) => name);
  const passedOn = [...text.matchAll(/^export \* from '(\.[^']+)\.js'/gm)].flatMap(([, path]) =>
    exportedNames(join(dirname(file), `${path}.d.ts`)),
  );
  return [...new Set([...listed, ...declared, ...passedOn])];
}
