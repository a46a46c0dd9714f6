// Removes each feature of the MCP server in turn, and then all of them, from a copy of the package: its folder, its row in the table of
// features, its methods of `MCPServer` and its exports. The rest must compile, and pass the suites of the server that need no feature.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript-v5';

const features = readdirSync('packages/mcp/src/features', { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? entry.name : [],
);
/** Suites with clients of the official SDKs, on the wire, and with requests to the client. */
const suites = [
  'interop',
  'served-to-real-clients',
  'served-differential',
  'http/differential',
  'http/http-wire',
  'client/elicitation',
];
const failed = [...features.map((name) => [name]), features].filter((names) => !worksWithout(names));
process.exit(failed.length === 0 ? 0 : 1);

function worksWithout(names) {
  const root = mkdtempSync(join(tmpdir(), 'quiver-ground-floor-'));
  try {
    const copy = join(root, 'packages/mcp');
    for (const file of ['src', 'test', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
      cpSync(join('packages/mcp', file), join(copy, file), { recursive: true });
    for (const file of ['tsconfig.base.json', 'vitest.config.ts', 'vitest.workspace.ts', 'package.json', 'scripts'])
      cpSync(file, join(root, file), { recursive: true });
    const others = readdirSync('packages').filter((name) => name !== 'mcp');
    for (const folder of ['node_modules', 'packages/mcp/node_modules', ...others.map((name) => `packages/${name}`)])
      symlinkSync(resolve(folder), join(root, folder), 'dir');
    for (const name of names) remove(name, join(copy, 'src'));
    // Imports that only removed members used remain.
    const options = ['--noEmit', '--emitDeclarationOnly', 'false', '--noUnusedLocals', 'false'];
    const conditions = ['--customConditions', '@quiver/source'];
    const compile = ['-p', join(copy, 'tsconfig.build.json'), ...options, ...conditions];
    const test = ['run', '--root', root, '--project', 'mcp', ...suites.map((name) => `src/server/${name}.test.ts`)];
    const runs = [
      ['tsc', compile],
      ['vitest', test],
    ];
    const failure = runs
      .map(([command, args]) => spawnSync(join('node_modules/.bin', command), args, { encoding: 'utf8' }))
      .find(({ status }) => status !== 0);
    console.log(
      `${failure ? '✗' : '✓'} without ${names.join(', ')}${failure ? `\n${failure.stdout}${failure.stderr}` : ''}`,
    );
    return !failure;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Removes one feature from the sources in a folder. */
function remove(name, folder) {
  rmSync(join(folder, 'features', name), { recursive: true });
  const isOfFeature = (node) => node.moduleSpecifier?.text.includes(`/features/${name}/`);
  const named = (node) => [...((node.importClause?.namedBindings ?? node.exportClause)?.elements ?? [])];
  // The table: statements that name the folder, and members that use what they name.
  const table = join(folder, 'server/features.ts');
  const names = parse(table)
    .statements.filter(isOfFeature)
    .flatMap(named)
    .map((each) => each.name.text);
  const members = new Set();
  edit(table, (node) => {
    if (isOfFeature(node)) return true;
    if (!ts.isPropertySignature(node) && !ts.isPropertyAssignment(node)) return false;
    const isMember = names.some((each) => new RegExp(`\\b${each}\\b`).test(node.getText()));
    if (isMember) members.add(node.name.text);
    return isMember;
  });
  edit(table, (node) => ts.isBindingElement(node) && members.has((node.propertyName ?? node.name).text));
  // Methods that delegate to it, with their overloads, and the types of their parameters.
  const server = join(folder, 'server/mcp-server.ts');
  const methods = new Set();
  visit(parse(server), (node) => {
    const uses = [...members].some((member) => node.body?.getText().includes(`this.#features.${member}.`));
    if (ts.isMethodDeclaration(node) && uses) methods.add(node.name.text);
  });
  edit(server, (node) => ts.isMethodDeclaration(node) && methods.has(node.name.text));
  edit(server, (node) => ts.isImportSpecifier(node) && names.includes(node.name.text));
  // Exports, of the server and of the package.
  const entry = join(folder, 'server/index.ts');
  const exports = parse(entry).statements.filter(isOfFeature).flatMap(named);
  const exported = new Set(exports.map((each) => each.name.text));
  edit(entry, isOfFeature);
  edit(join(folder, 'index.ts'), (node) => ts.isExportSpecifier(node) && exported.has(node.name.text));
}

/** Removes the nodes of a file that a function selects, with their comments. */
function edit(file, isRemoved) {
  const source = parse(file);
  const ranges = [];
  visit(source, (node) => {
    if (!isRemoved(node)) return false;
    const { text } = source;
    ranges.push([node.pos, text[node.end] === ',' ? node.end + 1 : node.end]);
    return true;
  });
  let { text } = source;
  for (const [start, end] of ranges.toReversed()) text = text.slice(0, start) + text.slice(end);
  writeFileSync(file, text);
}

function parse(file) {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
}

/** Visits the nodes in their order, but not those within a node for which the function returns `true`. */
function visit(node, visitor) {
  ts.forEachChild(node, (child) => {
    if (visitor(child) !== true) visit(child, visitor);
  });
}
