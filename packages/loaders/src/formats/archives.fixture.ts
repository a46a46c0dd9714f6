import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { strToU8, zipSync } from 'fflate';

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

/** Returns an EPUB. @param chapters - each as XHTML */
export function epub(chapters: readonly string[]): Uint8Array {
  const each = (write: (chapter: number) => string): string => chapters.map((_, chapter) => write(chapter)).join('');
  return zip({
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
    'book.opf': `<package><manifest>${each((chapter) => `<item id="c${chapter}" href="c${chapter}.xhtml"/>`)}</manifest><spine>${each((chapter) => `<itemref idref="c${chapter}"/>`)}</spine></package>`,
    ...Object.fromEntries(chapters.map((xhtml, chapter) => [`c${chapter}.xhtml`, xhtml])),
  });
}
