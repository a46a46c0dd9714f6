import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { QuiverError } from '@quiver/core';

/**
 * Returns the source of `cytoscape`, escaped for a `script` element.
 *
 * @param from - the module that looks for it
 * @throws `GRAPH_VIEWER_MISSING`
 */
export async function readViewer(from: string = import.meta.url): Promise<string> {
  try {
    const source = await readFile(createRequire(from).resolve('cytoscape/dist/cytoscape.min.js'), 'utf8');
    return source.replaceAll(/<\/script/gi, String.raw`<\/script`);
  } catch (cause) {
    throw new QuiverError(
      'GRAPH_VIEWER_MISSING',
      'The page is drawn by the package cytoscape. Install it: npm install cytoscape',
      { cause },
    );
  }
}
