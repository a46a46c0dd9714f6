import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

it('runs tests of node:test in both eras, with assertions that fail', () => {
  const args = ['--conditions=@quiver/source', '--import', fileOf('../../../../scripts/source-hooks.mjs')];
  const { stdout } = spawnSync(
    process.execPath,
    [...args, '--test', '--test-reporter=tap', fileOf('../../test/testing-program.ts')],
    { encoding: 'utf8' },
  );
  expect(stdout).toContain('# pass 2\n# fail 2\n');
  expect(stdout.match(/# Subtest: (legacy|modern) era/g)).toHaveLength(2);
  expect(stdout).toContain(`Expected 'greet' to return "Good evening", but it returned "Good morning".`);
});
