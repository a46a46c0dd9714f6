import { QuiverError } from '@quiver/core';
import { extensionOf } from './document-formats.js';

/** What to do with documents of formats that are not read, by the extensions of the formats. */
const remedies: Readonly<Record<string, string>> = {
  'doc dot rtf wps wpd pages sxw': 'convert to DOCX',
  'xls xlt xlsb ods numbers': 'convert to XLSX',
  'ppt pps odp key': 'convert to PPTX',
  'mobi azw azw3 fb2': 'convert to EPUB',
  'djvu ps xps': 'convert to PDF',
  chm: 'convert to HTML',
  'msg mbox pst': 'convert to EML',
  'zip tar tgz gz bz2 xz 7z rar': 'unpack',
};

const byExtension: ReadonlyMap<string, string> = new Map(
  Object.entries(remedies).flatMap(([extensions, remedy]) => extensions.split(' ').map((name) => [name, remedy])),
);

/** Returns whether a file is a document, or holds documents, in a format that is not read. Pictures and programs are none. */
export function isUnreadDocument(name: string): boolean {
  return byExtension.has(extensionOf(name));
}

/** Returns the error of a file whose format is not read. */
export function unknownFormat(name: string): QuiverError {
  const extension = extensionOf(name);
  const remedy = byExtension.get(extension);
  return new QuiverError(
    'DOCUMENT_TYPE_UNKNOWN',
    remedy === undefined
      ? `The format of ${name} is unknown. Name the file with a known extension, or pass its \`mediaType\`.`
      : `${name} has a format that is not read: ${extension.toUpperCase()}. To load it, ${remedy}.`,
    { details: { name } },
  );
}

/** Returns one line about documents of formats that are not read, for example `2 DOC, 1 RTF (convert to DOCX); 3 GZ (unpack)`. */
export function listUnread(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(extensionOf(name), (counts.get(extensionOf(name)) ?? 0) + 1);
  return Object.entries(remedies)
    .flatMap(([extensions, remedy]) => {
      const found = extensions.split(' ').filter((extension) => counts.has(extension));
      const list = found.map((extension) => `${counts.get(extension)} ${extension.toUpperCase()}`);
      return list.length === 0 ? [] : [`${list.join(', ')} (${remedy})`];
    })
    .join('; ');
}
