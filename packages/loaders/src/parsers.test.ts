import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const hooks = join(import.meta.dirname, '../../../scripts/source-hooks.mjs');

/** Loads a file as the program of the worker thread does, and prints the packages whose modules were resolved meanwhile. */
const program = `
import { registerHooks } from 'node:module';
const [name] = process.argv.slice(1);
const { readDocument } = await import(${JSON.stringify(join(import.meta.dirname, 'formats/read-document.ts'))});
const packages = new Set();
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const [, found] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(resolved.url) ?? [];
    if (found && context.parentURL.includes('/loaders/src/')) packages.add(found);
    return resolved;
  },
});
const bytes = new Uint8Array([0x47, 0xfc]);
const request = { name, groupSize: 1000, maxUnpackedSize: 1e6 };
await readDocument(bytes, request, { onSkip() {} }).catch(() => undefined);
console.log([...packages].sort().join(' '));
`;

async function packagesOf(name: string): Promise<string> {
  const options = ['--conditions=@quiver/source', '--import', hooks, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, '--', name]);
  return stdout.trim();
}

test.each([
  ['a.md', 'chardet'],
  ['a.html', 'chardet'],
  ['a.csv', 'chardet csv-parse'],
  ['a.pdf', '@embedpdf/pdfium'],
  ['a.docx', 'fflate mammoth'],
  ['a.pptx', 'fflate'],
  ['a.xlsx', 'fflate read-excel-file'],
  ['a.odt', 'fflate'],
  ['a.epub', 'fflate'],
  ['a.eml', 'postal-mime'],
  ['a.srt', 'chardet'],
])('%s is read with %s, and no other parser is imported', async (name, packages) => {
  expect(await packagesOf(name)).toBe(packages);
});
