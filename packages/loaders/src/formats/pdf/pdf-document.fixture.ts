/** A text of a page at a place in points from the lower left corner. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  /** Default 10. */
  size?: number;
  /** Default Helvetica. `Typewriter` has letters of one width, and does not declare it. */
  font?: 'Courier' | 'Helvetica-Bold' | 'Typewriter';
}

/** A bookmark of the outline, below the last one of a lower level. */
export interface Bookmark {
  title: string;
  /** 1 or 2. */
  level: number;
  /** Index of its page. */
  page: number;
}

/** Number of the object of the first page. */
const firstPage = 8;

/** Returns a PDF document. A page is its texts, or the operators of its content. Equal pages share one stream. */
export function writePdf(
  pages: readonly (readonly PlacedText[] | string)[],
  bookmarks: readonly Bookmark[] = [],
): Uint8Array {
  const outline = firstPage + 2 * pages.length;
  const kids = pages.map((_, index) => `${firstPage + 2 * index} 0 R`).join(' ');
  const fonts = '/Font << /F1 3 0 R /F2 4 0 R /F3 6 0 R /F4 7 0 R >> /XObject << /I1 5 0 R >>';
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R${bookmarks.length > 0 ? ` /Outlines ${outline} 0 R` : ''} >>`,
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
    '<< /Type /XObject /Subtype /Image /Width 2 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 2 >>\nstream\nAZ\nendstream',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>',
    `<< /Type /Font /Subtype /Type1 /BaseFont /Typewriter /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [${'600 '.repeat(95)}] /FontDescriptor << /Type /FontDescriptor /FontName /Typewriter /Flags 32 /FontBBox [0 0 600 800] /ItalicAngle 0 /Ascent 800 /Descent 0 /CapHeight 700 /StemV 80 >> >>`,
    ...pages.flatMap((page, index) => {
      const first = pages.indexOf(page);
      const stream = first < index ? '' : typeof page === 'string' ? page : page.map(toOperators).join('\n');
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${firstPage + 1 + 2 * first} 0 R /Resources << ${fonts} >> >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
    ...toOutline(bookmarks, outline),
  ];
  return writeObjects(objects);
}

/** Returns a PDF document of its objects, the first of which is the catalog. */
export function writeObjects(objects: readonly string[]): Uint8Array {
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const xref = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(text + xref + trailer, 'latin1'));
}

/** Objects of an outline, the first of which has the number `root`. */
function toOutline(bookmarks: readonly Bookmark[], root: number): string[] {
  const number = (index: number): string => `${root + 1 + index} 0 R`;
  const parents = bookmarks.map(({ level }, index) =>
    bookmarks.findLastIndex((other, at) => at < index && other.level < level),
  );
  const links = (parent: number): string => {
    const children = bookmarks.flatMap((_, index) => (parents[index] === parent ? [index] : []));
    return children.length === 0 ? '' : `/First ${number(children[0]!)} /Last ${number(children.at(-1)!)}`;
  };
  if (bookmarks.length === 0) return [];
  return [
    `<< /Type /Outlines ${links(-1)} >>`,
    ...bookmarks.map(({ title, page }, index) => {
      const parent = parents[index]!;
      const next = parents.findIndex((other, at) => at > index && other === parent);
      const siblings = next === -1 ? '' : `/Next ${number(next)}`;
      return `<< /Title (${title}) /Parent ${number(parent)} /Dest [${firstPage + 2 * page} 0 R /Fit] ${links(index)} ${siblings} >>`;
    }),
  ];
}

/** Returns a document of one page. @param page - entries of the page @param more - objects from number 5 */
export function writePage(page: string, content: string, more: readonly string[] = []): Uint8Array {
  return writeObjects([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R ${page} >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ...more,
  ]);
}

/** The content of a page with an image and no text. */
export const scan = 'q 600 0 0 800 0 0 cm /I1 Do Q';

function toOperators({ text, x, y, size = 10, font }: PlacedText): string {
  const escaped = text.replace(/[\\()]/g, String.raw`\$&`);
  const name = { Helvetica: 'F1', Courier: 'F2', 'Helvetica-Bold': 'F3', Typewriter: 'F4' }[font ?? 'Helvetica'];
  return `BT /${name} ${size} Tf ${x} ${y} Td (${escaped}) Tj ET`;
}

/** Lines of text below each other, 12 points apart. */
export function column(x: number, y: number, lines: readonly string[]): PlacedText[] {
  return lines.map((text, index) => ({ text, x, y: y - 12 * index }));
}

/** Lines of two paragraphs. */
export const left: readonly string[] = [
  'The engine compares every vector with',
  'the query and keeps the nearest ones.',
  'A filter removes rows before they are',
  'compared, so its cost depends on how',
  'many rows it lets through.',
];
export const right: readonly string[] = [
  'Writes go to a log first. The log is',
  'read when the store opens, and it is',
  'folded into the segments of the index',
  'when it has grown too long. Readers do',
  'not wait for this.',
];
