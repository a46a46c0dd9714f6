import { unreadableDocument, type DocumentLoader } from './document-loader.js';
import { firstHeadingLevel, hasContent, HeadingPath } from '../structure/heading-path.js';
import { htmlToMarkdown } from '@quiver/rag/document';
import { attribute, decodeXml, readXml, resolvePath } from './xml.js';
import { encryptedDocument, unzip, type UnpackedFiles } from './zip.js';

/**
 * Reads the chapters of an EPUB book in the order of its spine, each as Markdown with its number and its title from the table of
 * contents, and the headings above it. Pictures and the table of contents are left out; a chapter that is only a heading is not searched.
 *
 * @see [EPUB 3.3, section 5.7 – Spine](https://www.w3.org/TR/epub-33/#sec-pkg-spine)
 */
export const loadEpub: DocumentLoader = async (bytes, options) => {
  const { name } = options;
  const files = await unzip(bytes, options, (path) => /\.(?:xml|opf|ncx|x?html?)$/i.test(path));
  const book = readPackage(files, name);
  const encrypted = readEncryptedPaths(files, name);
  const titles = readTableOfContents(files, book, name);
  const path = new HeadingPath();
  const docs = book.spine.flatMap((file, index) => {
    if (encrypted.has(file)) throw encryptedDocument(name);
    const content = files.get(file);
    if (!content) return [];
    const { text, skip } = htmlToMarkdown(decodeXml(content), { name, isXhtml: true });
    if (text === '') return [];
    const chapterTitle = titles.get(file);
    const level = firstHeadingLevel(text);
    // Without a heading and a title, it continues the file before.
    const headings = level === undefined && chapterTitle !== undefined ? [] : path.titles(level);
    path.read(text);
    const own = { chapter: index + 1, ...(chapterTitle && { chapterTitle }), ...(headings.length > 0 && { headings }) };
    // The title page of a part: its heading is above the chapters that follow.
    const isTitle = !hasContent(text);
    return [
      {
        text,
        skip: isTitle ? [{ start: 0, end: text.length, kind: 'heading' }] : skip,
        metadata: { ...book.metadata, ...own },
      },
    ];
  });
  return [{ type: 'markdown', docs }];
};

interface Book {
  metadata: { title?: string; author?: string };
  /** Paths of the chapters in reading order. */
  spine: string[];
  /** Paths of tables of contents: of EPUB 3, then of EPUB 2. */
  contents: string[];
}

function readPackage(files: UnpackedFiles, name: string): Book {
  let path = '';
  const container = files.get('META-INF/container.xml');
  if (!container) throw unreadableDocument(name, 'it is not an EPUB book: META-INF/container.xml is missing.');
  readXml(container, name, {
    open(element, attributes) {
      if (element === 'rootfile' && path === '') path = attribute(attributes, 'full-path') ?? '';
    },
  });
  const content = files.get(path);
  if (!content) throw unreadableDocument(name, `its package document '${path}' is missing.`);
  const items = new Map<string, string>();
  const ids: string[] = [];
  const nav: string[] = [];
  const ncx: string[] = [];
  const found: Record<string, string> = {};
  let open = '';
  readXml(content, name, {
    open(element, attributes) {
      open = found[element] === undefined ? element : '';
      // EPUB 2 names the page of its table of contents here.
      if (element === 'reference' && attribute(attributes, 'type') === 'toc')
        nav.push(resolvePath(path, attribute(attributes, 'href') ?? ''));
      if (element === 'itemref') ids.push(attribute(attributes, 'idref') ?? '');
      if (element !== 'item') return;
      const target = resolvePath(path, attribute(attributes, 'href') ?? '');
      items.set(attribute(attributes, 'id') ?? '', target);
      if (attribute(attributes, 'properties')?.split(' ').includes('nav')) nav.push(target);
      if (attribute(attributes, 'media-type') === 'application/x-dtbncx+xml') ncx.push(target);
    },
    text(data) {
      if (open === 'title' || open === 'creator') found[open] = (found[open] ?? '') + data.trim();
    },
    close: () => (open = ''),
  });
  const { title, creator } = found;
  return {
    metadata: { ...(title && { title }), ...(creator && { author: creator }) },
    // The table of contents repeats the titles of the chapters.
    spine: [...new Set(ids.map((id) => items.get(id) ?? ''))].filter(
      (target) => target !== '' && !nav.includes(target),
    ),
    contents: [...new Set([...nav, ...ncx])],
  };
}

/** Returns the first title of each chapter, by its path. */
function readTableOfContents(files: UnpackedFiles, { contents }: Book, name: string): Map<string, string> {
  const titles = new Map<string, string>();
  for (const path of contents) {
    const content = files.get(path);
    if (!content) continue;
    let target = '';
    let label = '';
    let isLabel = false;
    const end = (): void => {
      const title = label.replace(/\s+/g, ' ').trim();
      if (target !== '' && title !== '' && !titles.has(target)) titles.set(target, title);
      label = '';
    };
    readXml(content, name, {
      open(element, attributes) {
        // EPUB 3: <a href>label</a>. EPUB 2: <navLabel><text>label</text></navLabel><content src/>.
        if (element === 'navPoint') label = '';
        if (element === 'a') target = resolvePath(path, attribute(attributes, 'href') ?? '');
        if (element === 'a' || element === 'navLabel') isLabel = true;
        if (element !== 'content') return;
        target = resolvePath(path, attribute(attributes, 'src') ?? '');
        end();
      },
      text: (data) => (label += isLabel ? data : ''),
      close(element) {
        if (element === 'a' || element === 'navLabel') isLabel = false;
        if (element === 'a') end();
      },
    });
  }
  return titles;
}

/** Fonts are often encrypted in books that are not protected. */
function readEncryptedPaths(files: UnpackedFiles, name: string): Set<string> {
  const paths = new Set<string>();
  const content = files.get('META-INF/encryption.xml');
  if (content) {
    readXml(content, name, {
      open(element, attributes) {
        if (element === 'CipherReference') paths.add(resolvePath('', attribute(attributes, 'URI') ?? ''));
      },
    });
  }
  return paths;
}
