// Bundles the browser script of the graph page into a module of @quiver/devtools that reads no file at run time.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = new URL('../packages/devtools/src/graph/', import.meta.url);

/** Returns the script as text. */
export async function bundleViewer() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('viewer.ts', folder))],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    write: false,
  });
  return outputFiles[0].text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await bundleViewer();
  await writeFile(
    new URL('page-script.ts', folder),
    `/** viewer.ts, bundled by scripts/build-viewer.mjs. */\nexport const pageScript: string =\n  ${JSON.stringify(text)};\n`,
  );
  console.log(`page-script.ts: ${text.length} characters`);
}
