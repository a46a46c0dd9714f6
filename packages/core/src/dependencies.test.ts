import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const readManifest = (path: string | URL): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest;
const own = new URL('../package.json', import.meta.url);

/** The packages that an installation of this one brings along, those of its dependencies included. */
function collectDependencies(manifestPath: string | URL, found: Set<string> = new Set()): Set<string> {
  for (const name of Object.keys(readManifest(manifestPath).dependencies ?? {})) {
    if (found.has(name)) continue;
    found.add(name);
    const search = createRequire(manifestPath).resolve.paths(name) ?? [];
    const path = search.map((folder) => `${folder}/${name}/package.json`).find((candidate) => exists(candidate));
    if (!path) throw new Error(`${name} is not installed`);
    collectDependencies(path, found);
  }
  return found;
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

describe('the package', () => {
  it('installs one other package, which contains types only', () => {
    expect([...collectDependencies(own)].sort()).toEqual(['@standard-schema/spec']);
  });

  it('names the version of what it bundles', () => {
    const notices = readFileSync(new URL('../THIRD-PARTY-NOTICES.md', import.meta.url), 'utf8');
    expect(notices).toContain(
      `zod-to-json-schema ${String(readManifest(own).devDependencies?.['zod-to-json-schema'])}`,
    );
  });
});
