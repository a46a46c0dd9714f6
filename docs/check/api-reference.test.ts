// The API reference has a module for each public entry point, named as programs import it, and links lead to files of the repository. The description
// of each page is a sentence. TypeDoc fails on its own warnings.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describePage } from '../.vitepress/describe-page.ts';
import { readEntryPoints } from './entry-points.ts';

const docs = fileURLToPath(new URL('..', import.meta.url));

/** Returns the pages of a folder by their paths, without those of TypeDoc in `docs`. */
function readPages(folder: string): [path: string, text: string][] {
  const paths = globSync('**/*.md', { cwd: folder, exclude: ['node_modules', 'reference/api'] });
  return paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]);
}

function assertDescriptions(pages: readonly [path: string, text: string][]): void {
  const unfit = pages.flatMap(([path, text]) => {
    const description = describePage(text);
    const [first = ''] = /^[^\s.,:;]+/.exec(description) ?? [];
    const isName = text.includes(`\`${first}`) || text.includes(`[${first}`);
    const isSentence = /^[^|]{5,220}[.!?]$/.test(description) && (/^\p{Lu}/u.test(description) || isName);
    return isSentence ? [] : [`${path}: ${description}`];
  });
  assert.deepEqual(unfit, []);
}

test('the API reference has every entry point', (t) => {
  const out = mkdtempSync(join(tmpdir(), 'quiver-api-'));
  t.after(() => rmSync(out, { recursive: true }));
  const { status, stdout, stderr } = spawnSync(join(docs, 'node_modules/.bin/typedoc'), ['--out', out], {
    cwd: docs,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
  const modules = readFileSync(join(out, 'README.md'), 'utf8').matchAll(/^- \[(.+?)\]/gm);
  const expected = readEntryPoints().flatMap(({ name, internal }) => (internal ? [] : [name]));
  assert.deepEqual([...modules].map(([, name]) => name).toSorted(), expected.toSorted());
  assert.ok(expected.length >= 28);

  const pages = readPages(out);
  // The page of a module is a list.
  assertDescriptions(pages.filter(([path]) => !path.endsWith('README.md')));
  const links = pages.flatMap(([, text]) => Array.from(text.matchAll(/\/blob\/main\/([^#)]+)#L(\d+)/g)));
  assert.ok(links.length > 1000);
  const lines = new Map<string, number>();
  const dead = links.filter(([, path = '', line]) => {
    if (!lines.has(path)) lines.set(path, readFileSync(join(docs, '..', path), 'utf8').split('\n').length);
    return Number(line) > (lines.get(path) ?? 0);
  });
  assert.deepEqual(dead, []);
  const errors = readFileSync(join(docs, 'reference/errors.md'), 'utf8');
  const codes = pages.flatMap(([, text]) =>
    Array.from(text.matchAll(/\/reference\/errors#(\w+)/g), ([, code]) => code),
  );
  assert.ok(codes.length > 100);
  assert.deepEqual(
    codes.filter((code) => !errors.includes(`\`${code}\``)),
    [],
  );
});

test('the description of each page is a sentence, and its links lead to files', () => {
  const pages = readPages(docs);
  assertDescriptions(pages);
  const dead = pages.flatMap(([path, text]) =>
    Array.from(
      text.replaceAll(/^(`{3,})[^]*?^\1$/gm, '').matchAll(/\]\((?![a-z]+:|#|\/)([^)#\s]+)/g),
      ([, target = '']) => target,
    )
      .filter((target) => !existsSync(resolve(docs, path, '..', target)))
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(dead, []);
});
