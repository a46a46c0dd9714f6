// Compiles the WebAssembly kernels of @quiver/rag from their source text into a module that reads no file at run time.
import { readFile, writeFile } from 'node:fs/promises';
import wabt from 'wabt';

const folder = new URL('../packages/rag/src/simd/', import.meta.url);
const kernels = {
  nibbleDotsWasm: 'nibble-dots.wat',
  fixedPointProductsWasm: 'fixed-point-products.wat',
};

const { parseWat } = await wabt();
const constants = [];
for (const [name, file] of Object.entries(kernels)) {
  const { buffer } = parseWat(file, await readFile(new URL(file, folder), 'utf8'), { simd: true }).toBinary({});
  const base64 = Buffer.from(buffer).toString('base64');
  constants.push(
    `/** ${file}, compiled by scripts/build-kernel.mjs. */\nexport const ${name}: string =\n  '${base64}';\n`,
  );
  console.log(`${name}: ${buffer.byteLength} bytes`);
}
await writeFile(new URL('kernels.ts', folder), constants.join('\n'));
