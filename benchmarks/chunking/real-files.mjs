// Real documents: READMEs, changelogs, web pages and JSON files of the packages in node_modules.
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../node_modules/.pnpm', import.meta.url));
const readmes = new Set(['README.md', 'readme.md', 'CHANGELOG.md']);
/** Larger files are data that users do not search for, such as all icons of a set. */
const longest = 1_000_000;

/**
 * @param bytes - limit for each format
 * @returns lists of texts by format
 */
export function readRealFiles(bytes) {
  const markdown = [];
  const html = [];
  const json = [];
  const sizes = new Map();
  const read = (path, texts, accepts = () => true) => {
    const size = sizes.get(texts) ?? 0;
    if (size > bytes) return;
    const text = readFileSync(path, 'utf8');
    if (text.length <= 100 || text.length > longest || !accepts(text)) return;
    texts.push(text);
    sizes.set(texts, size + text.length);
  };
  for (const folder of packageFolders()) {
    for (const name of readmes) if (existsSync(join(folder, name))) read(join(folder, name), markdown);
    for (const path of filesIn(folder)) {
      if (path.endsWith('.html')) read(path, html);
      else if (path.endsWith('.json')) read(path, json, isJson);
    }
  }
  // The strategies for source code and LaTeX read the same texts.
  return { text: markdown, typescript: markdown, latex: markdown, markdown, html, json };
}

function* packageFolders() {
  for (const entry of readdirSync(packages).toSorted()) {
    const modules = join(packages, entry, 'node_modules');
    if (!existsSync(modules)) continue;
    for (const name of readdirSync(modules).toSorted()) {
      const scoped = name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => join(name, part)) : [name];
      for (const folder of scoped.map((part) => join(modules, part))) if (realpathSync(folder) === folder) yield folder;
    }
  }
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/** Some files are JSON with comments, and some are broken, for tests. */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
