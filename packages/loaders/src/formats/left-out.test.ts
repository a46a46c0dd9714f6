import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { loadDocument } from '../load-document.js';
import { formats } from './document-formats.js';

const zip = (files: Record<string, string>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])));
const prose = 'The store maps its file into memory when it opens the index, and reads the log after it. ';
const links = Array.from({ length: 9 }, (_, n) => `<li><a href="#s${n}">Section ${n}</a></li>`).join('');
const page = `<html><head><title>Upsert</title></head><body><nav>Menu</nav><div class="cookie-banner">We use cookies.</div><div>Upsert</div><ul>${links}</ul><h2>Use</h2><p>${prose.repeat(9)}</p></body></html>`;
const slide = (title: string, text: string): string =>
  `<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${title}</a:t></a:r></a:p></p:txBody></p:sp>${text && `<p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p><a:p><a:r><a:t>ACME Corp.</a:t></a:r></a:p></p:txBody></p:sp>`}</p:spTree></p:cSld></p:sld>`;

/** Files that have everything that is left out of search, by the first extension in the row of the guide. */
const files: Readonly<Record<string, () => Uint8Array>> = {
  md: () => strToU8('![badge](a.svg)\n\n# Got\n\n- [A](#a)\n- [B](#b)\n- [C](#c)\n\nText.'),
  html: () => strToU8(page),
  json: () => strToU8('{"nav":"menu"}'),
  txt: () => strToU8('Table of contents\n\n> quoted\n\n-- \nAda'),
  docx: () =>
    readFileSync(
      join(dirname(createRequire(import.meta.url).resolve('mammoth/package.json')), 'test/test-data/tables.docx'),
    ),
  odt: () =>
    zip({
      'content.xml':
        '<office:document-content><office:body><office:text><text:table-of-content><text:p>Contents</text:p></text:table-of-content><text:p>One.</text:p></office:text></office:body></office:document-content>',
    }),
  pptx: () => {
    const slides = ['One', 'Two', 'Three', 'Four'].map((title) => slide(title, `About ${title}`));
    const all = [...slides, slide('Thank you', '')];
    return zip({
      'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${all.map((_, n) => `<p:sldId id="${n}" r:id="r${n}"/>`).join('')}</p:sldIdLst></p:presentation>`,
      'ppt/_rels/presentation.xml.rels': `<Relationships>${all.map((_, n) => `<Relationship Id="r${n}" Type="/slide" Target="slides/s${n}.xml"/>`).join('')}</Relationships>`,
      ...Object.fromEntries(all.map((content, n) => [`ppt/slides/s${n}.xml`, content])),
    });
  },
  epub: () =>
    zip({
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
      'book.opf':
        '<package><manifest><item id="a" href="a.xhtml"/><item id="b" href="b.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
      'a.xhtml': '<html><body><h1>Part one</h1></body></html>',
      'b.xhtml': page,
    }),
  eml: () =>
    strToU8(
      'From: a@x.y\r\nSubject: Due\r\n\r\nOn Friday.\r\n\r\n> When is it due?\r\n\r\nSent from my phone\r\n\r\nThis e-mail is confidential and intended only for the person that it is addressed to.\r\n',
    ),
  ipynb: () => strToU8(JSON.stringify({ cells: [{ cell_type: 'markdown', source: '# A\n\nText.' }] })),
};

/** Kinds that are tested where their format is: `boilerplate` of a folder, lists of PDF pages, and lists of links in Word. */
const testedElsewhere: Readonly<Record<string, readonly string[]>> = { html: ['boilerplate'], docx: ['contents'] };

const guide = readFileSync(new URL('../../../../docs/guides/documents.md', import.meta.url), 'utf8');
const [, section = ''] = guide.split('### What each format leaves out');
const rows = section
  .slice(0, section.indexOf('\nIn an HTML page'))
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => {
    const [format = '', , notSearched = '', , change = ''] = line.slice(2).split(' | ');
    const [, names = ''] = /\((.*)\)/.exec(format) ?? [];
    const kinds = [...notSearched.matchAll(/`([a-z]+)`/g)].map(([, kind]) => kind as string);
    return { extensions: names.replaceAll('`', '').split(', '), kinds, change };
  });

test('the guide has a row for every format, and source code is read as text', async () => {
  const named = new Set(rows.flatMap(({ extensions }) => extensions));
  for (const { extensions } of formats) {
    const own = extensions.split(' ');
    if (own.some((extension) => named.has(extension))) continue;
    const [document] = await loadDocument(strToU8('text'), { name: `file.${own[0]}` });
    expect(document?.language, own[0]).toBeDefined();
  }
});

test.each(rows.filter(({ extensions: [first = ''] }) => first in files))(
  'the guide names what is not searched: $extensions.0',
  async ({ extensions: [extension = ''], kinds, change }) => {
    const name = `file.${extension}`;
    const expected = kinds.filter((kind) => !testedElsewhere[extension]?.includes(kind));
    const found = new Set<string>();
    for (const document of await loadDocument(files[extension]!(), { name }))
      for (const kind of Object.keys(document.skippedText)) found.add(kind);
    expect([...found].toSorted()).toEqual(expected.toSorted());
    expect(change.includes("content: 'all'")).toBe(kinds.length > 0);
    for (const document of await loadDocument(files[extension]!(), { name, content: 'all' }))
      expect(document.skippedText).toEqual({});
  },
);
