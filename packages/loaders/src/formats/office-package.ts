import type { LoaderOptions } from './document-loader.js';
import { readXml } from './xml.js';
import { unzip, type UnpackedFiles } from './zip.js';

/** Unpacks the XML files of an Office document. */
export function unpackOffice(bytes: Uint8Array, options: LoaderOptions): Promise<UnpackedFiles> {
  return unzip(bytes, options, (path) => /\.(?:xml|rels)$/i.test(path));
}

/** Packs these files for a parser that has no limit on sizes: they were unpacked within the limit. */
export async function repackOffice(files: UnpackedFiles): Promise<Uint8Array<ArrayBuffer>> {
  const { zipSync } = await import('fflate');
  return zipSync(Object.fromEntries(files), { level: 0 });
}

/** Returns the title in the properties of an Office document as metadata, if it has one. */
export function readOfficeTitle(files: UnpackedFiles, name: string, path = 'docProps/core.xml'): { title?: string } {
  const properties = files.get(path);
  let title = '';
  let isTitle = false;
  if (properties) {
    try {
      readXml(properties, name, {
        open: (element) => (isTitle = element === 'title'),
        text: (data) => (title += isTitle ? data : ''),
        close: () => (isTitle = false),
      });
    } catch {
      // Some programs write an empty file. The text does not depend on it.
    }
  }
  return title.trim() === '' ? {} : { title: title.trim() };
}
