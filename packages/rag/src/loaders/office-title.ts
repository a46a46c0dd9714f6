import { readXml } from './xml.js';
import type { UnpackedFiles } from './zip.js';

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
