// Prints a ranking and the contents of a graph, to be compared with those of other processes.
import { buildChunkGraph } from './build-chunk-graph.js';

const count = 300;
const dimension = 16;
const graph = await buildChunkGraph({
  passages: Array.from({ length: count }, (_, n) => ({ id: `p${n}`, document: `Name${n % 60} and Place${n % 45}` })),
  vectors: Float32Array.from({ length: count * dimension }, (_, n) => Math.sin(n * n) + Math.cos(n % 97)),
  dimension,
  edges: { similarity: { threshold: 0.2 } },
});
const { scores } = graph.walk({ seeds: ['p3', 'p50', 'p7'].map((id, place) => [id, 1 / (place + 1)]) });
process.stdout.write(JSON.stringify([[...scores], graph.data]));
