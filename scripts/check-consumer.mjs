// Compiles a strict consumer (`skipLibCheck: false`) with every pinned name against the built packages. Also compiles tools with every
// AI SDK major, two TypeScript versions and common compiler settings, and exports what every public function and method returns: a
// type of it that no entry point exports is TS2742 in packages that write declarations.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const directory = join(dirname(fileURLToPath(import.meta.url)), 'consumer');
const pinned = JSON.parse(readFileSync(join(directory, '..', 'public-names.json'), 'utf8'));
const generated = join(directory, 'generated');

const lines = Object.entries(pinned).flatMap(([entry, { values, types }], index) => [
  `import { ${[...values.map((name) => `${name} as ${name}_${index}`), ...types.map((name) => `type ${name} as ${name}_${index}`)].join(', ')} } from '${entry}';`,
  ...(values.length > 0 ? [`void [${values.map((name) => `${name}_${index}`).join(', ')}];`] : []),
]);
mkdirSync(generated, { recursive: true });
writeFileSync(join(generated, 'public-names.ts'), `${lines.join('\n')}\n`);
writeFileSync(join(generated, 'returned.ts'), await exportReturnedValues());

const typescript5 = createRequire(import.meta.url).resolve('typescript-v5/bin/tsc');
// As many compilers run at once as there are processors.
const typescript7 = ['tsc', '--checkers', '1'];
const compilers = [
  { name: 'TypeScript 5.9', command: [process.execPath, typescript5] },
  { name: 'TypeScript 7', command: typescript7 },
];
const resolutions = [
  ['bundler', 'esnext'],
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
];

const compilations = ['tsconfig.json', 'tsconfig.loose.json', 'tsconfig.declarations.json'].map((project) => ({
  name: project,
  command: [...typescript7, '-p', project],
}));
// Every pair of a compiler, a resolution and a setting occurs.
for (const [place, { name, command }] of compilers.entries()) {
  for (const [index, [moduleResolution, module]] of resolutions.entries()) {
    const exact = String((place + index) % 2 === 0);
    const settings = [
      '--moduleResolution',
      moduleResolution,
      '--module',
      module,
      '--exactOptionalPropertyTypes',
      exact,
    ];
    compilations.push({
      name: `AI SDK 5, 6 and 7: ${name}, moduleResolution ${moduleResolution}, exactOptionalPropertyTypes ${exact}`,
      command: [...command, '-p', 'tsconfig.ai-sdk.json', ...settings],
    });
  }
}

let failed = 0;
const waiting = [...compilations];
await Promise.all(Array.from({ length: availableParallelism() }, work));
rmSync(generated, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { status, output } = await run(next.command);
    console.log(`${next.name}: ${status === 0 ? 'ok' : `failed\n${output}`}`);
    failed += status === 0 ? 0 : 1;
  }
}

function run([program, ...programArguments]) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, programArguments, { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status: status ?? 1, output }));
  });
}

/** Returns a module that exports the results of all public functions and methods, and the members of instances. */
async function exportReturnedValues() {
  const require = createRequire(join(directory, 'package.json'));
  const exports = [];
  // Members that only other modules of the packages call.
  const signIn = ['redeemState', 'pendingSignIn', 'clientInformation', 'tokens', 'discoveryState'];
  const unsupported = new Set([
    ...signIn.map((member) => `MCPOAuthClientProvider.${member}`),
    'ChunkGraph.walk',
    'ChunkGraph.titlesIn',
  ]);
  for (const [entry, { values }] of Object.entries(pinned)) {
    // They register tests; and helpers of `@quiver/loaders`.
    if (/vitest|devtools\/stores|rag\/document$/.test(entry)) continue;
    const module = await import(pathToFileURL(require.resolve(entry)).href);
    const isClass = (value) => typeof value === 'function' && /^class\b/.test(String(value));
    for (const name of values) {
      const path = `import('${entry}').${name}`;
      if (typeof module[name] !== 'function') continue;
      if (!isClass(module[name])) exports.push(`resultOf<typeof ${path}>()`);
      else
        for (const member of membersOf(module[name].prototype).filter(
          (member) => !unsupported.has(`${name}.${member}`),
        ))
          exports.push(`memberOf<InstanceType<typeof ${path}>, '${member}'>()`);
    }
  }
  return `
declare function resultOf<F>(): F extends (...args: never[]) => infer R ? Awaited<R> : never;
declare function memberOf<T, K extends string>(): K extends keyof T ? (T[K] extends (...args: never[]) => infer R ? Awaited<R> : T[K]) : never;
${exports.map((value, index) => `export const v${index} = ${value};`).join('\n')}
`;
}

/** Names of the methods and accessors of a class. */
function membersOf(prototype) {
  if (prototype === null || prototype === Object.prototype || prototype === Error.prototype) return [];
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  return [...new Set([...own, ...membersOf(Object.getPrototypeOf(prototype))])];
}
