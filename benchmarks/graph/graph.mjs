// Measures chunk graphs and prints Markdown tables:
//   pnpm build && pnpm --filter @quiver/benchmarks graph [-- --growth] [-- --with-anchors] [-- --sizes 1000,2000]
// --with-anchors compares with Mastra's GraphRAG on the same data; --growth builds graphs of up to 50,000 nodes and draws
// docs/images/graph-growth.svg. Without a flag, it does both. With --sizes it only builds graphs of these numbers of nodes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { compare } from './compare.mjs';
import { drawGrowth } from './draw-growth.mjs';
import { growthTable, measureGrowth } from './growth.mjs';
import { installPackages } from '../install-packages.mjs';
import { readFlags } from '../read-flags.mjs';

const values = readFlags({
  growth: { type: 'boolean', default: false },
  'with-anchors': { type: 'boolean', default: false },
  sizes: { type: 'string' },
});
const all = !values.growth && !values['with-anchors'] && !values.sizes;
console.log(`Node ${process.version}\n`);
if (all || values['with-anchors']) {
  const { load, remove } = installPackages(['@mastra/rag@2.6.4', '@mastra/core@1.71.0', 'zod@4.6.7']);
  const { GraphRAG } = await load('@mastra/rag');
  try {
    console.log(`${await compare(GraphRAG)}\n`);
  } finally {
    remove();
  }
}
if (values.sizes) console.log(growthTable(measureGrowth(values.sizes.split(',').map(Number))));
if (all || values.growth) {
  const points = measureGrowth([1000, 2000, 5000, 10_000, 20_000, 50_000]);
  console.log(growthTable(points));
  const folder = new URL('../../docs/images/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('graph-growth.svg', folder), drawGrowth(points));
}
