// Builds one graph and prints its time and memory as JSON. Arguments: nodes, dimension.
import { buildChunkGraph } from '@quiver/rag';
import { record } from '../record.mjs';
import { median, ratiosOf, timed } from '../statistics.mjs';
import { clusteredVectors } from './clustered-vectors.mjs';

const [count, dimension] = process.argv.slice(2).map(Number);
const vectors = clusteredVectors(count, dimension);
const passages = Array.from({ length: count }, (_, n) => ({ id: String(n), document: '' }));
const build = () => buildChunkGraph({ passages, vectors, dimension });
/** In a larger graph, the comparison of all pairs takes minutes. */
const isCompared = count <= 2000;
/** The measurement repeats for three seconds, and the first build warms up. */
const builds = [];
const byHand = [];
for (const end = performance.now() + 3000; performance.now() < end || builds.length < (isCompared ? 6 : 1);) {
  builds.push(await timed(build));
  if (isCompared) byHand.push(await timed(compareAll));
}
if (isCompared) {
  const [own, plain] = [builds, byHand].map((times) => times.slice(1).map(({ cpu }) => cpu));
  record(`graph/build, ${count.toLocaleString('en')} nodes/cpu-to-comparing all pairs/Quiver`, ratiosOf(own, plain));
}

const { result: graph } = builds[0];
const times = [];
for (let round = 0; round < 50; round += 1) {
  const seeds = Array.from({ length: 10 }, (_, n) => [String((round * 7919 + n * 104_729) % count), 1 / (n + 1) ** 2]);
  times.push((await timed(async () => graph.walk({ seeds }))).elapsed);
}
console.log(
  JSON.stringify({
    edges: graph.edgeCount,
    buildMs: Math.min(...builds.map(({ elapsed }) => elapsed)),
    maxRssMb: process.resourceUsage().maxRSS / 1e3,
    rankMs: median(times),
  }),
);

/** The dot product of each pair, in a plain loop. */
async function compareAll() {
  let sum = 0;
  for (let row = 0; row < count; row += 1)
    for (let other = row + 1; other < count; other += 1) {
      let product = 0;
      for (let place = 0; place < dimension; place += 1)
        product += vectors[row * dimension + place] * vectors[other * dimension + place];
      sum += product;
    }
  return sum;
}
