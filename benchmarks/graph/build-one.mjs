// Builds one graph and prints its time and memory as JSON. Arguments: nodes, dimension.
import { buildChunkGraph } from '@quiver/rag';
import { record } from '../record.mjs';
import { median, ratiosOf, timed } from '../statistics.mjs';
import { clusteredVectors } from './clustered-vectors.mjs';

const [count, dimension] = process.argv.slice(2).map(Number);
const vectors = clusteredVectors(count, dimension);
const passages = Array.from({ length: count }, (_, n) => ({ id: String(n), document: '' }));
const build = () => buildChunkGraph({ passages, vectors, dimension });
/** The measurement repeats for three seconds. */
const builds = [];
for (const end = performance.now() + 3000; performance.now() < end || builds.length < 2;)
  builds.push({ ...(await timed(build)), byHand: await timed(compareAll) });
// The first build warms up.
const cpu = builds.slice(1).map((one) => one.cpu);
const byHand = builds.slice(1).map((one) => one.byHand.cpu);
record(`graph/build, ${count.toLocaleString('en')} nodes/cpu-to-comparing all pairs/Quiver`, ratiosOf(cpu, byHand));

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
