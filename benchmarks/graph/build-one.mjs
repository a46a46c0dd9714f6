// Builds one graph and prints its time and memory as JSON. Arguments: nodes, dimension.
import { buildChunkGraph } from '@quiver/rag';
import { clusteredVectors } from './clustered-vectors.mjs';

const [count, dimension] = process.argv.slice(2).map(Number);
const vectors = clusteredVectors(count, dimension);
const passages = Array.from({ length: count }, (_, n) => ({ id: String(n), document: '' }));
/** Shortest of several build times; the measurement repeats for three seconds. */
let buildMs = Infinity;
let graph;
for (let spent = 0; spent < 3000;) {
  const start = performance.now();
  graph = await buildChunkGraph({ passages, vectors, dimension });
  const took = performance.now() - start;
  buildMs = Math.min(buildMs, took);
  spent += took;
}

const times = [];
for (let round = 0; round < 50; round += 1) {
  const seeds = Array.from({ length: 10 }, (_, n) => [String((round * 7919 + n * 104_729) % count), 1 / (n + 1) ** 2]);
  const before = performance.now();
  graph.walk({ seeds });
  times.push(performance.now() - before);
}
const rankMs = times.toSorted((a, b) => a - b)[25];
console.log(
  JSON.stringify({
    edges: graph.edgeCount,
    buildMs,
    maxRssMb: process.resourceUsage().maxRSS / 1e3,
    rankMs,
  }),
);
