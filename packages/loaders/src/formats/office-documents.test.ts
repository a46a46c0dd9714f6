import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadDocument } from '../load-document.js';
import { docx, presentation, wordFiles, zip } from './archives.fixture.js';

async function load(name: string, bytes: Uint8Array): Promise<{ text: string; metadata: Record<string, unknown> }[]> {
  const [document] = await loadDocument(bytes, { name });
  expect(document?.type).toBe('markdown');
  return document!.getDocs();
}

describe('DOCX', () => {
  test('keeps tables, lists, notes and text of real documents', async () => {
    const read = async (name: string): Promise<string | undefined> =>
      (await load(name, readFileSync(join(wordFiles, name))))[0]?.text;
    expect(await read('tables.docx')).toBe(
      'Above\n\n| Top left | Top right |\n| --- | --- |\n| Bottom left | Bottom right |\n\nBelow',
    );
    expect(await read('simple-list.docx')).toBe('- Apple\n- Banana');
    expect(await read('single-paragraph.docx')).toBe('Walking on imported air');
    expect(await read('footnotes.docx')).toContain('A tachyon walks into a bar.');
    expect(await read('text-box.docx')).toBe('Datum plane');
    expect(await read('utf8-bom.docx')).toBe('This XML has a byte order mark.');
  });

  test('reports each real document without text', async () => {
    const empty = new Set([
      'empty.docx',
      'tiny-picture.docx',
      'tiny-picture-target-base-relative.docx',
      'external-picture.docx',
    ]);
    for (const name of readdirSync(wordFiles).filter((file) => file.endsWith('.docx'))) {
      const result = load(name, readFileSync(join(wordFiles, name)));
      if (empty.has(name)) await expect(result, name).rejects.toMatchObject({ code: 'DOCUMENT_EMPTY' });
      else await expect(result, name).resolves.toHaveLength(1);
    }
  });

  test('keeps headings and the title', async () => {
    const paragraph = (style: string, text: string): string =>
      `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
    const body = [
      paragraph('Heading1', 'Rockets'),
      paragraph('Normal', 'They fly &amp; land.'),
      paragraph('Heading2', 'Fuel'),
      paragraph('Normal', 'Kerosene.'),
    ];
    const core = '<p:coreProperties><dc:title>Manual</dc:title><dc:creator>Ann</dc:creator></p:coreProperties>';
    const bytes = docx(body.join(''), '', { 'docProps/core.xml': core });
    const [document] = await loadDocument(bytes, { name: 'manual.docx' });
    const chunks = await document!.chunk({ minSize: 0 });
    expect(chunks.map(({ text, metadata }) => [text, metadata['title'], metadata.headings])).toEqual([
      ['# Rockets\n\nThey fly & land.', 'Manual', ['Rockets']],
      ['## Fuel\n\nKerosene.', 'Manual', ['Rockets', 'Fuel']],
    ]);
  });
});

describe('PPTX', () => {
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`;
  const shape = (placeholder: string, ...paragraphs: string[]): string =>
    `<p:sp><p:nvSpPr><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs.join('')}</p:txBody></p:sp>`;
  const text = (content: string, level = 0): string =>
    `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${content}</a:t></a:r></a:p>`;
  const slide = (...shapes: string[]): string =>
    `<p:sld><p:cSld><p:spTree>${shapes.join('')}</p:spTree></p:cSld></p:sld>`;

  test('reads slides in the order of the presentation, with notes, lists and tables', async () => {
    const cell = (content: string): string => `<a:tc><a:txBody>${text(content)}</a:txBody></a:tc>`;
    const bytes = zip({
      'ppt/presentation.xml':
        '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rId9"/><p:sldId id="257" r:id="rId2"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels': `<Relationships>${relation('rId2', 'slide', 'slides/slide1.xml')}${relation('rId9', 'slide', '/ppt/slides/slide2.xml')}</Relationships>`,
      'ppt/slides/slide1.xml': slide(
        shape('', `<a:p><a:r><a:t>Prices</a:t></a:r></a:p>`),
        `<p:graphicFrame><a:tbl><a:tr>${cell('Part')}${cell('Price')}</a:tr><a:tr>${cell('Bolt')}${cell('2')}</a:tr></a:tbl></p:graphicFrame>`,
      ),
      'ppt/slides/slide2.xml': slide(
        shape('<p:ph type="title"/>', text('Launch')),
        shape('<p:ph idx="1"/>', text('Steps'), text('Fuel', 1), text('Check', 2), text('Go', 1)),
        shape('<p:ph type="sldNum"/>', text('1')),
      ),
      'ppt/slides/_rels/slide2.xml.rels': `<Relationships>${relation('rId1', 'notesSlide', '../notesSlides/notesSlide1.xml')}</Relationships>`,
      'ppt/notesSlides/notesSlide1.xml': slide(shape('<p:ph type="body"/>', text('Speak slowly.'))),
    });
    expect(await load('talk.pptx', bytes)).toEqual([
      {
        text: '# Launch\n\n- Steps\n  - Fuel\n    - Check\n  - Go\n\nNotes:\n\nSpeak slowly.',
        metadata: { source: 'talk.pptx', slide: 1, slideTitle: 'Launch' },
      },
      {
        text: 'Prices\n\n| Part | Price |\n| --- | --- |\n| Bolt | 2 |',
        metadata: { source: 'talk.pptx', slide: 2 },
      },
    ]);
  });

  test('reads links, bullets where they are shown, and titles of several lines', async () => {
    const run = (content: string, properties = ''): string =>
      `<a:r><a:rPr>${properties}</a:rPr><a:t>${content}</a:t></a:r>`;
    const link = run('our page', '<a:hlinkClick r:id="rId7"/>');
    const bytes = zip({
      'ppt/presentation.xml':
        '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rId9"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels': `<Relationships>${relation('rId9', 'slide', 'slides/slide1.xml')}</Relationships>`,
      'ppt/slides/slide1.xml': slide(
        shape(
          '<p:ph type="ctrTitle"/>',
          `<a:p>${run('Sales of')}<a:br/>${run('the year')}</a:p>`,
          `<a:p>${run('2025')}</a:p>`,
        ),
        shape(
          '<p:ph type="body"/>',
          `<a:p>${run('See ')}${link}${run(' &amp; call.')}</a:p>`,
          `<a:p><a:pPr><a:buNone/></a:pPr>${run('Plain.')}</a:p>`,
        ),
        shape('', `<a:p><a:pPr><a:buChar char="•"/></a:pPr>${run('In a box')}</a:p>`),
      ),
      'ppt/slides/_rels/slide1.xml.rels': `<Relationships><Relationship Id="rId7" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="https://a.example/x" TargetMode="External"/></Relationships>`,
    });
    expect(await load('talk.pptx', bytes)).toEqual([
      {
        text: '# Sales of the year 2025\n\n- See [our page](https://a.example/x) & call.\n\nPlain.\n\n- In a box',
        metadata: { source: 'talk.pptx', slide: 1, slideTitle: 'Sales of the year 2025' },
      },
    ]);
  });
});

describe('a slide that is only a title', () => {
  const slide = (title: string, body = ''): string =>
    `<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${title}</a:t></a:r></a:p></p:txBody></p:sp>${body}</p:spTree></p:cSld></p:sld>`;

  test('is not searched, unless all are', async () => {
    const text = '<p:sp><p:txBody><a:p><a:r><a:t>They fly.</a:t></a:r></a:p></p:txBody></p:sp>';
    const [document] = await loadDocument(presentation([slide('Rockets', text), slide('Thank you')]), {
      name: 'talk.pptx',
    });
    expect((await document!.chunk()).map((chunk) => chunk.text)).toEqual(['# Rockets\n\nThey fly.']);
    expect(document!.skippedText).toEqual({ heading: '# Thank you'.length });
    const [titles] = await loadDocument(presentation([slide('Rockets'), slide('Thank you')]), { name: 'talk.pptx' });
    expect(titles!.skippedText).toEqual({});
  });
});

describe('ODT', () => {
  const odt = (body: string): Uint8Array =>
    zip({
      'content.xml': `<office:document-content><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
      'meta.xml': '<office:document-meta><office:meta><dc:title>Report</dc:title></office:meta></office:document-meta>',
    });

  test('keeps headings, lists, tables, notes and spaces', async () => {
    const cell = (content: string): string => `<table:table-cell><text:p>${content}</text:p></table:table-cell>`;
    const body = `<text:table-of-content><text:p>Contents</text:p></text:table-of-content>
      <text:h text:outline-level="2">Costs</text:h>
      <text:p>One<text:s text:c="2"/>two<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>See below.</text:p></text:note-body></text:note><office:annotation><text:p>hidden</text:p></office:annotation> three.</text:p>
      <text:list><text:list-item><text:p>A</text:p><text:list><text:list-item><text:p>B</text:p></text:list-item></text:list></text:list-item></text:list>
      <table:table><table:table-row>${cell('Part')}${cell('Price')}</table:table-row><table:table-row>${cell('Bolt')}${cell('2')}</table:table-row></table:table>`;
    expect(await load('report.odt', odt(body))).toEqual([
      {
        text: '## Costs\n\nOne two ( See below.) three.\n\n- A\n  - B\n\n| Part | Price |\n| --- | --- |\n| Bolt | 2 |',
        metadata: { source: 'report.odt', title: 'Report' },
      },
    ]);
  });

  test('reports an encrypted document', async () => {
    const manifest =
      '<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>';
    const bytes = zip({ 'content.xml': 'xx', 'META-INF/manifest.xml': manifest });
    await expect(load('secret.odt', bytes)).rejects.toMatchObject({ code: 'DOCUMENT_ENCRYPTED' });
  });
});

describe('EPUB', () => {
  const book = (files: Record<string, string> = {}): Uint8Array =>
    zip({
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
      'OEBPS/book.opf': `<package><metadata><dc:title>Whales</dc:title><dc:creator>H. M.</dc:creator></metadata>
        <manifest><item id="n" href="nav.xhtml" properties="nav"/><item id="b" href="text/b.xhtml"/><item id="a" href="text/a%20a.xhtml"/></manifest>
        <spine><itemref idref="n"/><itemref idref="b"/><itemref idref="a"/></spine></package>`,
      'OEBPS/nav.xhtml':
        '<html><body><nav><ol><li><a href="text/a%20a.xhtml">The <i>end</i></a></li><li><a href="text/b.xhtml#x">Loomings</a></li></ol></nav></body></html>',
      'OEBPS/text/a a.xhtml': '<html><body><p>Last.</p></body></html>',
      'OEBPS/text/b.xhtml':
        '<html><head><title>no</title></head><body><script/><h1>Loomings</h1><p>Call me&#160;Ishmael.</p></body></html>',
      ...files,
    });

  test('reads chapters in the order of the spine, with their titles', async () => {
    const shared = { source: 'book.epub', title: 'Whales', author: 'H. M.' };
    expect(await load('book.epub', book())).toEqual([
      { text: '# Loomings\n\nCall me\u00a0Ishmael.', metadata: { ...shared, chapter: 1, chapterTitle: 'Loomings' } },
      { text: 'Last.', metadata: { ...shared, chapter: 2, chapterTitle: 'The end' } },
    ]);
  });

  test('names the headings above a chapter, and does not search a heading alone', async () => {
    const bytes = book({
      'OEBPS/text/b.xhtml': '<html><body><h1>Part one</h1></body></html>',
      'OEBPS/text/a a.xhtml': '<html><body><h2>Loomings</h2><p>Call me Ishmael.</p></body></html>',
    });
    const [document] = await loadDocument(bytes, { name: 'book.epub' });
    expect(document!.skippedText).toEqual({ heading: 10 });
    const chunks = await document!.chunk();
    expect(chunks.map(({ text, metadata }) => [text, metadata.headings])).toEqual([
      ['## Loomings\n\nCall me Ishmael.', ['Part one', 'Loomings']],
    ]);
  });

  test('leaves out the page of the table of contents of EPUB 2', async () => {
    const bytes = book({
      'OEBPS/book.opf':
        '<package><manifest><item id="t" href="toc.xhtml"/><item id="b" href="text/b.xhtml"/></manifest><spine><itemref idref="t"/><itemref idref="b"/></spine><guide><reference href="toc.xhtml" type="toc"/></guide></package>',
      'OEBPS/toc.xhtml': '<html><body><p><a href="text/b.xhtml">Loomings</a></p></body></html>',
    });
    expect((await load('book.epub', bytes)).map(({ text, metadata }) => [text, metadata['chapterTitle']])).toEqual([
      ['# Loomings\n\nCall me\u00a0Ishmael.', 'Loomings'],
    ]);
  });

  test('leaves out the numbers of paragraphs', async () => {
    const paragraph = (number: number, text: string): string =>
      `<label class="ocn"><a href="#o${number}">${number}</a></label>${text}`;
    const text = `${paragraph(1, '<h1 id="o1">Loomings</h1>')}${paragraph(2, '<p>Call me Ishmael.<a href="#n1">3</a></p>')}`;
    const bytes = book({ 'OEBPS/text/b.xhtml': `<html><body>${text}</body></html>` });
    expect((await load('book.epub', bytes))[0]?.text).toBe('# Loomings\n\nCall me Ishmael.3');
  });

  test('reads the titles of EPUB 2', async () => {
    const bytes = book({
      'OEBPS/book.opf':
        '<package><manifest><item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/><item id="b" href="text/b.xhtml"/></manifest><spine toc="t"><itemref idref="b"/></spine></package>',
      'OEBPS/toc.ncx':
        '<ncx><navMap><navPoint><navLabel><text>Chapter one</text></navLabel><content src="text/b.xhtml#start"/></navPoint></navMap></ncx>',
    });
    expect((await load('book.epub', bytes))[0]?.metadata).toMatchObject({ chapter: 1, chapterTitle: 'Chapter one' });
  });

  test('reports a book with copy protection, but not one with encrypted fonts', async () => {
    const encrypt = (path: string): Record<string, string> => ({
      'META-INF/encryption.xml': `<encryption><EncryptedData><CipherData><CipherReference URI="${path}"/></CipherData></EncryptedData></encryption>`,
    });
    await expect(load('b.epub', book(encrypt('OEBPS/text/b.xhtml')))).rejects.toMatchObject({
      code: 'DOCUMENT_ENCRYPTED',
    });
    expect(await load('b.epub', book(encrypt('OEBPS/font.otf')))).toHaveLength(2);
  });
});
