import { unreadableDocument, type DocumentLoader } from './document-loader.js';
import { hasContent } from '../structure/heading-path.js';
import { MarkdownWriter } from '@quiver/rag/document';
import { findRepeated, onSlides, skipRepeated } from '../structure/repeated-blocks.js';
import { readOfficeTitle, unpackOffice } from './office-package.js';
import { attribute, readXml, resolvePath } from './xml.js';
import type { UnpackedFiles } from './zip.js';

const presentation = 'ppt/presentation.xml';

/**
 * Reads the slides of a PowerPoint presentation in their order, each as Markdown with its number, its title and its notes: titles,
 * text, lists by their indentation, tables.
 */
export const loadPptx: DocumentLoader = async (bytes, options) => {
  const { name } = options;
  const files = await unpackOffice(bytes, options);
  const title = readOfficeTitle(files, name);
  /** Notes belong to one slide. A file with many slides and the same large notes would take quadratic time. */
  const usedNotes = new Set<string>();
  const docs = readSlidePaths(files, name).flatMap((path, index) => {
    const content = files.get(path);
    if (!content) throw unreadableDocument(name, `its slide ${index + 1} is missing.`);
    const relations = readRelations(files, path, name);
    const slide = readSlide(content, name, relations);
    const notesPath = [...relations.values()].find(({ type }) => type === 'notesSlide')?.path;
    const notesContent = notesPath === undefined || usedNotes.has(notesPath) ? undefined : files.get(notesPath);
    if (notesPath !== undefined) usedNotes.add(notesPath);
    const notes = notesContent ? readSlide(notesContent, name).text : '';
    const text = [slide.text, ...(notes === '' ? [] : [`Notes:\n\n${notes}`])]
      .filter((part) => part !== '')
      .join('\n\n');
    const slideTitle = slide.title === '' ? {} : { slideTitle: slide.title };
    return text === '' ? [] : [{ text, metadata: { ...title, slide: index + 1, ...slideTitle } }];
  });
  const repeated = findRepeated(docs, onSlides);
  const slides = docs.map((slide) => skipRepeated(slide, repeated, onSlides));
  return [
    { type: 'markdown', docs: slides.some(({ text }) => hasContent(text)) ? slides.map(withoutTitleOnly) : slides },
  ];
};

/** A slide that is only a title matches queries, and answers none. */
function withoutTitleOnly<Slide extends { text: string }>(slide: Slide): Slide {
  return hasContent(slide.text) ? slide : { ...slide, skip: [{ start: 0, end: slide.text.length, kind: 'heading' }] };
}

/** The file names of slides do not follow their order. */
function readSlidePaths(files: UnpackedFiles, name: string): string[] {
  const content = files.get(presentation);
  if (!content) throw unreadableDocument(name, `it is not a presentation: ${presentation} is missing.`);
  const relations = readRelations(files, presentation, name);
  const paths = new Set<string>();
  readXml(content, name, {
    open(element, attributes) {
      // Its attribute `id` is another number: only the one with a prefix names the relation.
      if (element !== 'sldId') return;
      const key = Object.keys(attributes).find((key) => key.endsWith(':id'));
      paths.add(relations.get(attributes[key ?? ''] ?? '')?.path ?? '');
    },
  });
  return [...paths];
}

interface Relation {
  readonly type: string;
  /** Path of a file in the presentation, or the URL of a link. */
  readonly path: string;
}

/** Returns the files and links to which a part of the presentation refers, by the ids of the references. */
function readRelations(files: UnpackedFiles, path: string, name: string): Map<string, Relation> {
  const relations = new Map<string, Relation>();
  const at = path.lastIndexOf('/') + 1;
  const content = files.get(`${path.slice(0, at)}_rels/${path.slice(at)}.rels`);
  if (!content) return relations;
  readXml(content, name, {
    open(element, attributes) {
      if (element !== 'Relationship') return;
      const isExternal = attribute(attributes, 'TargetMode') === 'External';
      const type = attribute(attributes, 'Type') ?? '';
      const target = attribute(attributes, 'Target') ?? '';
      relations.set(attribute(attributes, 'Id') ?? '', {
        type: type.slice(type.lastIndexOf('/') + 1),
        path: isExternal ? target : resolvePath(path, target),
      });
    },
  });
  return relations;
}

/** Placeholders without content of their own: number, date, footer, header and, in notes, the picture of the slide. */
const decoration = /^(?:sldNum|dt|ftr|hdr|sldImg)$/;
const titles = /^(?:title|ctrTitle)$/;
const tableNames: ReadonlyMap<string, string> = new Map([
  ['tbl', 'table'],
  ['tr', 'tr'],
  ['tc', 'td'],
]);

/** Paragraphs of these placeholders have bullets, unless they declare otherwise. */
const listed = /^(?:obj|body)$/;

/** @param relations - of a slide; without them, it is a page of notes, which has no title and no bullets */
function readSlide(
  content: Uint8Array,
  name: string,
  relations?: ReadonlyMap<string, Relation>,
): { title: string; text: string } {
  const writer = new MarkdownWriter();
  let title = '';
  let placeholder: string | undefined;
  let fallback = 0;
  let isText = false;
  let level = 0;
  /** Levels of the open list. */
  let listDepth = 0;
  let isOpen = false;
  let isCovered = false;
  /** Whether the paragraph says that it has a bullet, or none. */
  let hasBullet: boolean | undefined;
  let href: string | undefined;
  let run = '';
  const isTitle = (): boolean => placeholder !== undefined && titles.test(placeholder);

  const setListDepth = (depth: number): void => {
    for (; listDepth > depth; listDepth -= 1) {
      writer.close('li');
      writer.close('ul');
    }
  };
  /** Opens the element of a paragraph at its first text, when its properties are known. */
  const openParagraph = (): void => {
    isOpen = true;
    const isListed = relations !== undefined && placeholder !== undefined && listed.test(placeholder);
    if (hasBullet ?? isListed) level += 1;
    if (isTitle()) {
      // A title of several paragraphs is one.
      if (title === '') writer.open('h1');
      else writer.text(' ');
    } else if (level === 0) {
      setListDepth(0);
      writer.open('p');
    } else {
      if (listDepth >= level) {
        setListDepth(level);
        writer.close('li');
        writer.open('li');
      }
      for (; listDepth < level; listDepth += 1) {
        writer.open('ul');
        writer.open('li');
      }
    }
  };
  const skips = (): boolean => fallback > 0 || (placeholder !== undefined && decoration.test(placeholder));

  readXml(content, name, {
    open(element, attributes) {
      if (element === 'Fallback') fallback += 1;
      else if (element === 'sp') placeholder = undefined;
      else if (element === 'ph') placeholder = attribute(attributes, 'type') ?? 'obj';
      else if (element === 'p') {
        level = 0;
        hasBullet = undefined;
        href = undefined;
        if (isTitle() && title !== '') title += ' ';
      } else if (element === 'pPr') level = Math.min(Number(attribute(attributes, 'lvl')) || 0, 8);
      else if (element === 'buChar' || element === 'buAutoNum') hasBullet = true;
      else if (element === 'buNone') hasBullet = false;
      else if (element === 'hlinkClick')
        href = relations?.get(attributes[Object.keys(attributes).find((key) => key.endsWith(':id')) ?? ''] ?? '')?.path;
      else if (element === 't') {
        isText = !skips();
        run = '';
      } else if (element === 'br') {
        writer.open('br');
        if (isTitle()) title += ' ';
      }
      const table = tableNames.get(element);
      if (table === 'table') {
        setListDepth(0);
        placeholder = undefined;
      }
      // Cells that others span.
      if (element === 'tc') isCovered = ['hMerge', 'vMerge'].some((key) => attribute(attributes, key) === '1');
      const [colspan = '1', rowspan = '1'] = ['gridSpan', 'rowSpan'].map((key) => attribute(attributes, key));
      if (table && !(element === 'tc' && isCovered)) writer.open(table, { colspan, rowspan });
    },
    text(data) {
      if (isText) run += data;
    },
    close(element) {
      if (element === 'Fallback') fallback -= 1;
      else if (element === 't') {
        isText = false;
        if (run === '') return;
        if (!isOpen) openParagraph();
        if (isTitle()) title += run;
        if (href !== undefined) writer.open('a', { href });
        writer.text(run);
        if (href !== undefined) writer.close('a');
        run = '';
        href = undefined;
      } else if (element === 'p' && isOpen) {
        isOpen = false;
        if (level === 0 && !isTitle()) writer.close('p');
      } else if (element === 'txBody' || element === 'sp') {
        setListDepth(0);
        if (isTitle() && element === 'sp') writer.close('h1');
      }
      if (element === 'sp') placeholder = undefined;
      const table = tableNames.get(element);
      if (table && !(element === 'tc' && isCovered)) writer.close(table);
    },
  });
  return { title: relations === undefined ? '' : title.replace(/\s+/g, ' ').trim(), text: writer.end().text };
}
