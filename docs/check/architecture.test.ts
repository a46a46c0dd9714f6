// The folders of a package are those of its table in concepts/architecture.md, and import from folders below them only.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const page = readFileSync(new URL('../concepts/architecture.md', import.meta.url), 'utf8');

const packages = ['core', 'mcp', 'rag', 'loaders'];

describe('the packages for programs', () => {
  test('import nothing of @quiver/devtools', () => {
    const found = packages.flatMap((name) =>
      readImports(sourceOf(name), /(?:from|import\(|import) ?'([^']+)'/g)
        .filter(({ to }) => /devtools/.test(to))
        .map(({ from, to }) => `${name}/${from} imports ${to}`),
    );
    assert.deepEqual(found, []);
  });
});

test('the internal entries of mcp and rag are small', () => {
  const modulesOf = (name: string): number =>
    readFileSync(join(sourceOf(name), 'internal.ts'), 'utf8').match(/ from '/g)?.length ?? 0;
  assert.ok(modulesOf('mcp') <= 6);
  assert.ok(modulesOf('rag') <= 12);
});

for (const name of ['rag', 'loaders', 'devtools']) {
  const source = sourceOf(name);
  const section = page.split(/^## @quiver\//m).find((part) => part.startsWith(`${name}\n`)) ?? '';
  const folders = [...section.matchAll(/^\| `([\w-]+)\/`/gm)].map(([, folder = '']) => folder);

  describe(`@quiver/${name}`, () => {
    test('has the folders of the table', () => {
      const existing = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      assert.deepEqual(folders.toSorted(), existing.map((entry) => entry.name).toSorted());
    });

    test('imports from folders below', () => {
      const upward = readImports(source).filter(({ from, to }) => {
        const [above, below] = [from, to].map((path) => folders.indexOf(path.split('/')[0] ?? ''));
        return above !== -1 && below !== -1 && above! > below!;
      });
      assert.deepEqual(
        upward.map(({ from, to }) => `${from} imports ${to}`),
        [],
        'Move the file that is imported, or the row of its folder in concepts/architecture.md.',
      );
    });
  });
}

describe('@quiver/mcp: features', () => {
  const source = sourceOf('mcp');
  const imports = readImports(source).map(({ from, to }) => [from, to] as const);
  const featureOf = (path: string): string | undefined => /^features\/([^/]+)\//.exec(path)?.[1];

  test('are imported by their table and by the entry point of the server only', () => {
    const users = imports.filter(([from, to]) => featureOf(to) && !featureOf(from)).map(([from]) => from);
    assert.deepEqual([...new Set(users)].toSorted(), ['server/features.ts', 'server/index.ts']);
  });

  test('import no other feature', () => {
    const others = imports.filter(
      ([from, to]) => featureOf(from) && featureOf(to) && featureOf(from) !== featureOf(to),
    );
    assert.deepEqual(others, []);
  });

  test('have a README each, which the tour of a call names', () => {
    const tour = readFileSync(new URL('../concepts/tour-of-a-call.md', import.meta.url), 'utf8');
    const named = Array.from(tour.matchAll(/features\/([\w-]+)\/README\.md/g), ([, name]) => name);
    const existing = readdirSync(join(source, 'features'), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
    assert.deepEqual(named.toSorted(), existing.toSorted());
    for (const name of existing)
      assert.match(readFileSync(join(source, 'features', name, 'README.md'), 'utf8'), /\*\*Seam:\*\*/);
  });
});

function sourceOf(name: string): string {
  return fileURLToPath(new URL(`../../packages/${name}/src/`, import.meta.url));
}

/** Returns the imports of a package that match, by default the relative ones, except those of tests, as paths from its source folder. */
function readImports(
  source: string,
  pattern = /(?:from|import\(|import|declare module) ?'(\.[^']+)'/g,
): { from: string; to: string }[] {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^(?!.*\.(?:test|test-d|fixture)\.ts$).*\.ts$/.test(file),
  );
  return files.flatMap((from) =>
    Array.from(readFileSync(join(source, from), 'utf8').matchAll(pattern), ([, path = '']) => ({
      from,
      to: relative(source, join(source, dirname(from), path)),
    })),
  );
}
