import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import wabt from 'wabt';
import { fixedPointProductsWasm, nibbleDotsWasm } from './kernels.js';

it.each([
  ['nibble-dots.wat', nibbleDotsWasm],
  ['fixed-point-products.wat', fixedPointProductsWasm],
])('contains what %s compiles to', async (file, compiled) => {
  const text = await readFile(new URL(file, import.meta.url), 'utf8');
  const { buffer } = (await wabt()).parseWat(file, text, { simd: true }).toBinary({});
  expect(compiled).toBe(Buffer.from(buffer).toString('base64'));
});
