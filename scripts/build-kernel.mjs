// Compiles the WebAssembly kernels of @quiver/rag from their texts into modules that need no file at run time.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';

const sources = new URL('../packages/rag/src/', import.meta.url);
const kernels = [
  { text: 'stores/local/kernel/nibble-dots.wat', module: 'stores/local/kernel/nibble-dots.ts', name: 'nibbleDotsWasm' },
  {
    text: 'graph/similarity/fixed-point-products.wat',
    module: 'graph/similarity/fixed-point-products-wasm.ts',
    name: 'fixedPointProductsWasm',
  },
];

const { parseWat } = await wabt();
for (const { text, module, name } of kernels) {
  const source = fileURLToPath(new URL(text, sources));
  const { buffer } = parseWat(source, await readFile(source, 'utf8'), { simd: true }).toBinary({});
  const base64 = Buffer.from(buffer).toString('base64');
  await writeFile(
    new URL(module, sources),
    `/** ${text.split('/').at(-1)}, compiled by scripts/build-kernel.mjs. */\nexport const ${name}: string =\n  '${base64}';\n`,
  );
  console.log(`${name}: ${buffer.byteLength} bytes`);
}
