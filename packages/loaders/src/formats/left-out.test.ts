import { readFileSync } from 'node:fs';
import { strToU8 } from 'fflate';
import { expect, test } from 'vitest';
import { loadDocument } from '../load-document.js';
import { epub, openDocument, presentation, wordTable } from './archives.fixture.js';
import { formats } from './document-formats.js';

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
  docx: wordTable,
  odt: () =>
    openDocument('<text:table-of-content><text:p>Contents</text:p></text:table-of-content><text:p>One.</text:p>'),
  pptx: () =>
    presentation([
      ...['One', 'Two', 'Three', 'Four'].map((title) => slide(title, `About ${title}`)),
      slide('Thank you', ''),
    ]),
  epub: () => epub(['<html><body><h1>Part one</h1></body></html>', page]),
  eml: () =>
    strToU8(
      'From: a@x.y\r\nSubject: Due\r\n\r\nOn Friday.\r\n\r\n> When is it due?\r\n\r\nSent from my phone\r\n\r\nThis e-mail is confidential and intended only for the person that it is addressed to.\r\n',
    ),
  ipynb: () => strToU8(JSON.stringify({ cells: [{ cell_type: 'markdown', source: '# A\n\nText.' }] })),
};

/** Kinds that are tested where their format is: `boilerplate` of a folder, lists of PDF pages, and lists of links in Word. */
const testedElsewhere: Readonly<Record<string, readonly string[]>> = { html: ['boilerplate'], docx: ['contents'] };

const guide = readFileSync(new URL('../../../../docs/guides/document-formats.md', import.meta.url), 'utf8');
const [, section = ''] = guide.split('## Omissions of each format');
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
