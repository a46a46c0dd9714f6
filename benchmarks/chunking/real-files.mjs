// Real documents: READMEs, changelogs and JSON files of the packages in node_modules, and the same Markdown as web pages.
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../node_modules/.pnpm', import.meta.url));
const requireOfRag = createRequire(new URL('../../packages/rag/package.json', import.meta.url));

/**
 * @param bytes - limit for each format
 * @returns lists of texts by format
 */
export async function readRealFiles(bytes) {
  const markdown = [];
  const json = [];
  for (const folder of packageFolders()) {
    for (const name of ['README.md', 'readme.md', 'CHANGELOG.md']) read(join(folder, name), markdown, bytes);
    read(join(folder, 'package.json'), json, bytes);
  }
  const { HtmlRenderer, Parser } = requireOfRag('commonmark');
  const html = markdown.map(
    (text) =>
      `<!doctype html><html><head><title>x</title></head><body>${new HtmlRenderer().render(new Parser().parse(text))}</body></html>`,
  );
  return { text: markdown, markdown, html, json };
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

function read(path, texts, bytes) {
  if (!existsSync(path) || texts.join('').length > bytes) return;
  const text = readFileSync(path, 'utf8');
  if (text.length > 100) texts.push(text);
}
