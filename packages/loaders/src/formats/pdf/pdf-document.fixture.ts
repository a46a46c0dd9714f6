/** A text of a page at a place in points from the lower left corner. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  /** Default 10. */
  size?: number;
  /** Default Helvetica. */
  font?: 'Courier';
}

/** A bookmark of the outline, below the last one of a lower level. */
export interface Bookmark {
  title: string;
  /** 1 or 2. */
  level: number;
  /** Index of its page. */
  page: number;
}

/** Returns a PDF document. A page is its texts, or the operators of its content. Equal pages share one stream. */
export function writePdf(
  pages: readonly (readonly PlacedText[] | string)[],
  bookmarks: readonly Bookmark[] = [],
): Uint8Array {
  const outline = 6 + 2 * pages.length;
  const kids = pages.map((_, index) => `${6 + 2 * index} 0 R`).join(' ');
  const fonts = '/Font << /F1 3 0 R /F2 4 0 R >> /XObject << /I1 5 0 R >>';
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R${bookmarks.length > 0 ? ` /Outlines ${outline} 0 R` : ''} >>`,
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
    '<< /Type /XObject /Subtype /Image /Width 2 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 2 >>\nstream\nAZ\nendstream',
    ...pages.flatMap((page, index) => {
      const first = pages.indexOf(page);
      const stream = first < index ? '' : typeof page === 'string' ? page : page.map(toOperators).join('\n');
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${7 + 2 * first} 0 R /Resources << ${fonts} >> >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
    ...toOutline(bookmarks, outline),
  ];
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
      return `<< /Title (${title}) /Parent ${number(parent)} /Dest [${6 + 2 * page} 0 R /Fit] ${links(index)} ${siblings} >>`;
    }),
  ];
}

/** The content of a page with an image and no text. */
export const scan = 'q 600 0 0 800 0 0 cm /I1 Do Q';

function toOperators({ text, x, y, size = 10, font }: PlacedText): string {
  const escaped = text.replace(/[\\()]/g, String.raw`\$&`);
  return `BT /${font ? 'F2' : 'F1'} ${size} Tf ${x} ${y} Td (${escaped}) Tj ET`;
}

/** Lines of text below each other, 12 points apart. */
export function column(x: number, y: number, lines: readonly string[]): PlacedText[] {
  return lines.map((text, index) => ({ text, x, y: y - 12 * index }));
}
