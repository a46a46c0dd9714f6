import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { check } from 'recheck';
import ts from 'typescript-v5';

const packages = join(import.meta.dirname, '../../packages');

/** Patterns that the checker cannot prove linear, with the reason why their input or their steps are bounded. */
const bounded = {
  'mcp/src/client/config/config-variables.ts': 'a configuration file of the user, which starts programs',
  'mcp/src/client/engine/summarize-output.ts': 'the last output of a child process, which is limited',
  'rag/src/document/chunking/latex.ts': 'each alternative begins with another character, and none spans lines',
  'rag/src/document/chunking/markdown-blocks.ts': 'tried at one position, over at most 500 lines',
  'rag/src/graph/document-edges.ts': 'the text of one chunk',
  'rag/src/graph/term-edges.ts': 'the text of one chunk',
  'rag/src/stores/pg/pg-records.ts': 'the look-behind allows one start in each run of backslashes',
  'devtools/src/graph/view-graph.ts': 'the first 1000 characters of a text',
  'loaders/src/formats/html.ts': 'the first kilobyte of a page',
  'loaders/src/formats/pdf/pdf-repeated.ts': 'one line of a page',
  'loaders/src/formats/pdf/pdf-markdown.ts': 'one line of a page',
  'loaders/src/structure/markdown-parts.ts':
    'one line; the quantifiers of its parts are limited or follow a fixed mark',
  'loaders/src/structure/title.ts': 'the title of a document',
};

/** Yields the literal patterns of the sources, each with its place. */
function* literalPatterns(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.name.endsWith('.ts') || /\.(?:test|test-d|fixture)\.ts$|^describe-/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    const found = [];
    const visit = (node) => {
      if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) found.push(node);
      ts.forEachChild(node, visit);
    };
    visit(file);
    for (const node of found) {
      const end = node.text.lastIndexOf('/');
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      yield { source: node.text.slice(1, end), flags: node.text.slice(end + 1), file: relative(packages, path), line };
    }
  }
}

/**
 * Returns a pattern without look-arounds and references, which the automaton does not have. It matches more texts in more ways: if it is
 * linear, the original is, unless a look-around itself scans far.
 */
function simplify(source) {
  let result = '';
  for (let at = 0; at < source.length;) {
    const opening = /^\(\?<?[=!]/.exec(source.slice(at))?.[0];
    if (opening === undefined) {
      const end = endOfAtom(source, at);
      const atom = source.slice(at, end);
      result += /^\\[1-9]$/.test(atom) ? '(?:)' : atom;
      at = end;
      continue;
    }
    let depth = 1;
    for (at += opening.length; depth > 0; at = endOfAtom(source, at)) {
      if (source[at] === '(') depth += 1;
      if (source[at] === ')') depth -= 1;
    }
    result += '(?:)';
  }
  return result;
}

/** Returns the end of an escape, a class, or one character. */
function endOfAtom(source, at) {
  if (source[at] === '\\') return at + 2;
  if (source[at] !== '[') return at + 1;
  let end = at + 1;
  while (source[end] !== ']') end += source[end] === '\\' ? 2 : 1;
  return end + 1;
}

test('every literal pattern takes linear time, or its input is bounded', async () => {
  const wrong = [];
  const used = new Set();
  const names = readdirSync(packages);
  for (const { source, flags, file, line } of names.flatMap((name) => [
    ...literalPatterns(join(packages, name, 'src')),
  ])) {
    // Without a loop, a pattern has a fixed number of steps at each place.
    if (!/[*+]|\{\d+,\}/.test(source)) continue;
    if (bounded[file]) {
      used.add(file);
      continue;
    }
    const given = flags.replace('v', 'u').replace('d', '');
    const { status, complexity } = await check(simplify(source), given, { checker: 'automaton', timeout: null });
    if (status !== 'safe') wrong.push(`${file}:${line} /${source}/${flags}: ${complexity?.summary ?? status}`);
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    Object.keys(bounded).filter((file) => !used.has(file)),
    [],
  );
});
