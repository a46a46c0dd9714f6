import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { strToU8, zipSync } from 'fflate';

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Returns the relationships of a part, with the ids r1, r2 and so on. */
export function relations(...targets: readonly (readonly [type: string, target: string])[]): string {
  const items = targets.map(
    ([type, target], index) => `<Relationship Id="r${index + 1}" Type="${office}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${items.join('')}</Relationships>`;
}

/** Returns an archive of text files. */
export function zip(files: Readonly<Record<string, string>>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])));
}

/** Folder of real Word files. */
export const wordFiles: string = join(
  dirname(createRequire(import.meta.url).resolve('mammoth/package.json')),
  'test/test-data',
);

/** Returns a real Word file with a table. */
export function wordTable(): Uint8Array {
  return readFileSync(join(wordFiles, 'tables.docx'));
}

/** Returns a Word file. @param body - paragraphs as XML. @param prolog - before the root. @param files - other parts */
export function docx(body: string, prolog = '', files: Readonly<Record<string, string>> = {}): Uint8Array {
  return zip({
    '[Content_Types].xml':
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
    '_rels/.rels': relations(['officeDocument', 'word/document.xml']),
    'word/document.xml': `${prolog}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
    ...files,
  });
}

/** Returns a spreadsheet. @param sheets - rows of each as XML, by its path. @param files - other parts of it */
export function spreadsheet(
  sheets: Readonly<Record<string, string>>,
  files: Readonly<Record<'styles' | 'sharedStrings', string>> = { styles: '', sharedStrings: '' },
): Uint8Array {
  const paths = Object.keys(sheets);
  const names = paths.map((_, index) => `<sheet name="S${index + 1}" sheetId="${index + 1}" r:id="r${index + 1}"/>`);
  const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  return zip({
    'xl/workbook.xml': `<workbook ${namespace} xmlns:r="${office}"><sheets>${names.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      ...paths.map((path) => ['worksheet', path] as const),
      ['styles', 'styles.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
    ),
    'xl/styles.xml': `<styleSheet ${namespace}>${files.styles}</styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${namespace}>${files.sharedStrings}</sst>`,
    ...Object.fromEntries(
      paths.map((path) => [`xl/${path}`, `<worksheet ${namespace}><sheetData>${sheets[path]}</sheetData></worksheet>`]),
    ),
  });
}

/** Returns a text of OpenDocument. @param body - paragraphs as XML */
export function openDocument(body: string): Uint8Array {
  return zip({
    'content.xml': `<office:document-content><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
  });
}

/** Returns a presentation. @param slides - each as XML */
export function presentation(slides: readonly string[]): Uint8Array {
  const each = (write: (slide: number) => string): string => slides.map((_, slide) => write(slide)).join('');
  return zip({
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${each((slide) => `<p:sldId id="${slide}" r:id="r${slide}"/>`)}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': `<Relationships>${each((slide) => `<Relationship Id="r${slide}" Type="/slide" Target="slides/s${slide}.xml"/>`)}</Relationships>`,
    ...Object.fromEntries(slides.map((xml, slide) => [`ppt/slides/s${slide}.xml`, xml])),
  });
}

/** Returns an EPUB. @param chapters - each as XHTML. @param copies - how often its order names each */
export function epub(chapters: readonly string[], copies = 1): Uint8Array {
  const each = (write: (chapter: number) => string): string => chapters.map((_, chapter) => write(chapter)).join('');
  return zip({
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
    'book.opf': `<package><manifest>${each((chapter) => `<item id="c${chapter}" href="c${chapter}.xhtml"/>`)}</manifest><spine>${each((chapter) => `<itemref idref="c${chapter}"/>`.repeat(copies))}</spine></package>`,
    ...Object.fromEntries(chapters.map((xhtml, chapter) => [`c${chapter}.xhtml`, xhtml])),
  });
}
