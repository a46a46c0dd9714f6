import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { newFolder } from '../../../../scripts/test-folder.ts';
import { createLexicalEmbedder, ingest } from '@quiver/rag';
import type { MDocument } from '@quiver/rag/document';
import { LocalVector } from '@quiver/rag/local';
import { loadDocuments, type LoadDocumentsOptions } from './load-documents.js';

let root: string;

beforeEach(async () => {
  root = await newFolder();
});

const banner = 'Please answer our survey about these pages.';
const footer = 'Generated from the sources of release 3.4';
const pages = Array.from({ length: 15 }, (_, index) => `part${index % 2}/page${index}/index.html`);

/** A page of a generator that marks its banner and its footer in no way. */
function toPage(subject: string, end = footer): string {
  const labels = Array.from({ length: 12 }, (_, index) => `<p>Step ${index} of ${subject}.</p><p>Example</p>`).join('');
  return `<html><title>${subject}</title><body><div>${banner}</div><h1>${subject}</h1><p>About ${subject}.</p>${labels}<div>${end}</div></body></html>`;
}

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

const writePages = (): Promise<void> => write(Object.fromEntries(pages.map((path) => [path, toPage(path)])));

async function load(options: LoadDocumentsOptions = {}): Promise<Map<unknown, MDocument>> {
  const documents = new Map<unknown, MDocument>();
  for await (const document of loadDocuments(root, options))
    documents.set(document.sources[0]!.metadata['source'], document);
  return documents;
}

const contents = (documents: Map<unknown, MDocument>): Map<unknown, string> =>
  new Map([...documents].map(([source, { sources, skippedText }]) => [source, JSON.stringify([sources, skippedText])]));

describe('what the HTML pages of a folder repeat', () => {
  test('stays in their texts, is not searched, and is counted by ingest', async () => {
    await writePages();
    const documents = await load();
    const searched = (await documents.get(pages[0]!)!.chunk()).map(({ text }) => text).join('\n');
    expect(documents.get(pages[0]!)!.sources[0]!.text).toContain(banner);
    expect(searched).not.toContain(banner);
    expect(searched).not.toContain(footer);
    // A label that every page has, between the texts that it belongs to.
    expect(searched).toContain('Example');
    const { skippedText } = await ingest({
      documents: documents.values(),
      vectorStore: new LocalVector(),
      indexName: 'pages',
      model: createLexicalEmbedder(),
    });
    expect(skippedText).toEqual({ boilerplate: pages.length * (banner.length + footer.length) });
  });

  test('is the same in each run, and does not depend on an edit of another page, or on one that is added', async () => {
    await writePages();
    const first = contents(await load());
    expect(contents(await load())).toEqual(first);
    for (const changed of pages) {
      const before = await readFile(join(root, changed), 'utf8');
      await write({ [changed]: toPage('something else', 'Another footer') });
      const second = contents(await load());
      await write({ [changed]: before });
      for (const path of pages) {
        if (path === changed) expect(second.get(path)).not.toBe(first.get(path));
        else expect(second.get(path), `${path} after an edit of ${changed}`).toBe(first.get(path));
      }
    }
    await write({ 'part0/added/index.html': '<h1>Added</h1><p>Without banner and footer.</p>' });
    const third = contents(await load());
    for (const path of pages) expect(third.get(path)).toBe(first.get(path));
  });

  test('is searched with content: all, and in a few pages', async () => {
    await writePages();
    const documents = await load({ content: 'all' });
    expect(documents.get(pages[0]!)!.skippedText).toEqual({});
    const [one, two, three] = pages as [string, string, string];
    expect((await load({ include: [one, two, three] })).get(one)!.skippedText).toEqual({});
  });

  test.each([6, 15])('is the same for one file of %i as for the folder, as in a queue', async (count) => {
    const some = pages.slice(0, count);
    await write(Object.fromEntries(some.map((path) => [path, toPage(path)])));
    await write({ 'notes.md': 'A note.' });
    const whole = await load();
    expect(whole.get(some[0]!)!.skippedText).toEqual({ boilerplate: banner.length + footer.length });
    const parts = new Map<unknown, MDocument>();
    for (const path of [...some, 'notes.md'])
      for (const [source, document] of await load({ paths: [path] })) parts.set(source, document);
    expect(contents(parts)).toEqual(contents(whole));
  });

  test('includes a heading above the title, and not one with text below it', async () => {
    const site = (path: string): string =>
      `<h1>The Site</h1><h2>${path}</h2><p>About ${path}.</p><h2>See also</h2><p>What is near ${path}.</p>`;
    await write(Object.fromEntries(pages.map((path) => [path, site(path)])));
    const document = (await load()).get(pages[0]!)!;
    expect(document.skippedText).toEqual({ boilerplate: '# The Site'.length });
    const chunks = await document.chunk({ minSize: 0 });
    expect(chunks.map(({ metadata }) => metadata.headings)).toEqual([[pages[0]], ['See also']]);
  });

  test('is their content if they are copies', async () => {
    const copies = Object.fromEntries(pages.map((path) => [path, toPage('the same')]));
    await write(copies);
    expect((await load()).get(pages[0]!)!.skippedText).toEqual({});
    const text = 'Install it by your package manager, and start it as a service.';
    const versions = pages.map((path) => [path, `<h1>Install</h1><p>${text}</p><p>Version ${path}</p>`]);
    await write(Object.fromEntries(versions));
    const searched = (await (await load()).get(pages[0]!)!.chunk()).map((chunk) => chunk.text).join('\n');
    expect(searched).toContain(text);
  });
});
