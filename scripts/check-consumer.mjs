// Compiles a consumer against the built packages, as a strict project sees them (`skipLibCheck: false`), with every pinned name.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = join(dirname(fileURLToPath(import.meta.url)), 'consumer');
const pinned = JSON.parse(readFileSync(join(directory, '..', 'public-names.json'), 'utf8'));
const generated = join(directory, 'generated');

const lines = Object.entries(pinned).flatMap(([entry, { values, types }], index) => [
  `import { ${[...values.map((name) => `${name} as ${name}_${index}`), ...types.map((name) => `type ${name} as ${name}_${index}`)].join(', ')} } from '${entry}';`,
  ...(values.length > 0 ? [`void [${values.map((name) => `${name}_${index}`).join(', ')}];`] : []),
]);
mkdirSync(generated, { recursive: true });
writeFileSync(join(generated, 'public-names.ts'), `${lines.join('\n')}\n`);

let failed = 0;
for (const project of ['tsconfig.json', 'tsconfig.loose.json']) {
  const { status } = spawnSync('tsc', ['-p', project], { cwd: directory, stdio: 'inherit' });
  console.log(`${project}: ${status === 0 ? 'ok' : 'failed'}`);
  failed += status === 0 ? 0 : 1;
}
rmSync(generated, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);
