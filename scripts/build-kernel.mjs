// Compiles the WebAssembly kernel of LocalVector from its text into a module that needs no file at run time.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const folder = new URL('../packages/rag/src/stores/local/kernel/', import.meta.url);
const source = fileURLToPath(new URL('int8-dots.wat', folder));
const { buffer } = (await wabt()).parseWat(source, await readFile(source, 'utf8'), { simd: true }).toBinary({});
const base64 = Buffer.from(buffer).toString('base64');
await writeFile(
  new URL('int8-dots.ts', folder),
  `/** int8-dots.wat, compiled by scripts/build-kernel.mjs. */\nexport const int8DotsWasm: string =\n  '${base64}';\n`,
);
console.log(`${buffer.byteLength} bytes`);
