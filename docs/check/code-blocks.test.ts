// Every TypeScript block of the documentation is type-checked; what a page shows as its output is what it prints.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readCodeBlocks, takeImports, toModule } from './code-blocks.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const generated = fileURLToPath(new URL('generated/', import.meta.url));
const patterns = ['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/*/README.md'];
const pages = new Map(
  globSync(patterns, { cwd: repository, exclude: (path) => /node_modules|\.vitepress|reference\/api/.test(path) })
    .toSorted()
    .map((path) => [path, readFileSync(join(repository, path), 'utf8')]),
);
const fileOf = (path: string): string => `${path.replaceAll('/', '__')}.ts`;

before(() => {
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated);
  for (const [path, page] of pages) writeFileSync(join(generated, fileOf(path)), toModule(page));
  writeFileSync(join(generated, 'server.ts'), "export declare const server: import('@quiver/mcp').MCPServer;");
  const compilerOptions = {
    // As readers compile, and more: pages show one thing at a time.
    exactOptionalPropertyTypes: false,
    noImplicitAny: false,
    noUncheckedIndexedAccess: false,
    noUnusedLocals: false,
    // The packages as built, which readers install.
    customConditions: [],
    paths: {},
    noUnusedParameters: false,
    allowImportingTsExtensions: true,
  };
  const configuration = { extends: '../../../tsconfig.base.json', compilerOptions, include: ['*.ts', '../given.d.ts'] };
  writeFileSync(join(generated, 'tsconfig.json'), JSON.stringify(configuration));
});
after(() => rmSync(generated, { recursive: true, force: true }));

test('every block of code has the types that it claims', () => {
  const { stdout } = spawnSync('tsc', ['--checkers', '1', '-p', generated], { encoding: 'utf8' });
  // Lines of the generated files are those of the pages.
  const found = stdout.matchAll(/^docs\/check\/generated\/(\S+)\.ts\((\d+),\d+\): (.*(?:\n .*)*)/gm);
  const errors = Array.from(found, ([, file = '', line, text]) => `${file.replaceAll('__', '/')}:${line} ${text}`);
  assert.deepEqual(errors, []);
});

describe('the output on the page is what the code prints:', () => {
  for (const [path, page] of pages) {
    for (const { code, line, output } of readCodeBlocks(page)) {
      if (output === undefined || !code.includes('console.log(')) continue;
      test(`${path}:${line + 1}`, () => {
        const others = takeImports(readCodeBlocks(page).map((block) => (block.language === 'ts' ? block.code : '')));
        const file = join(generated, `run-${fileOf(path)}`);
        writeFileSync(file, `${others.header}\n${takeImports([code]).bodies[0]}`);
        // Some write an index.
        const cwd = mkdtempSync(join(tmpdir(), 'quiver-docs-'));
        const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', cwd });
        rmSync(cwd, { recursive: true });
        assert.equal(stdout.trimEnd(), output, stderr);
      });
    }
  }
});

/** Anchors of a page's headings, as the repository's web page and VitePress both derive them. */
const anchorsOf = (page: string): Set<string> => {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
};
const withoutCode = (page: string): string => page.replaceAll(/^(`{3,})[\s\S]*?^\1$/gm, '');

test('every link leads to a file and an anchor that exist', () => {
  const dead: string[] = [];
  for (const [path, page] of pages) {
    for (const [, link = ''] of withoutCode(page).matchAll(/\]\(([^)\s]+)[^)]*\)/g)) {
      const local = link.replace(/^https:\/\/github\.com\/quiver-sdk\/quiver\/(?:blob|tree)\/main\//, '/');
      if (/^[a-z]+:/.test(local)) continue;
      const [target = '', anchor] = local.split('#');
      const file = target.startsWith('/') ? target.slice(1) : target ? join(dirname(path), target) : path;
      if (!existsSync(join(repository, file))) dead.push(`${path}: ${link}`);
      else if (anchor && pages.has(file) && !anchorsOf(pages.get(file) ?? '').has(anchor))
        dead.push(`${path}: ${link}`);
    }
  }
  assert.deepEqual(dead, []);
});

test('every file that CONTRIBUTING.md names exists', () => {
  const page = readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8');
  const paths = [...page.matchAll(/`((?:packages|docs|scripts|examples|benchmarks|\.ci)\/[^`\s<*]+)`/g)].map(
    ([, path]) => path ?? '',
  );
  assert.ok(paths.length > 20);
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(repository, path))),
    [],
  );
});
