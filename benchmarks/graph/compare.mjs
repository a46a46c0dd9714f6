import { GraphRAG } from '@quiver/rag';
import { clusteredVectors } from './clustered-vectors.mjs';
import { median, table } from '../statistics.mjs';

/** Number of nodes, dimension, cluster size. Quiver connects a node with its 20 nearest neighbors; the clusters of the last case are larger. */
const cases = [
  [1000, 384, 20],
  [5000, 384, 20],
  [5000, 1536, 20],
  [1000, 384, 60],
];
/** Warm-up time of each library. */
const warmUpMs = 5000;
const threshold = 0.7;
const settings = { topK: 10, randomWalkSteps: 100, restartProb: 0.15 };

/** Builds and queries graphs of the same data with both libraries in turn, after the same warm-up. @returns a Markdown table */
export async function compare(Anchor) {
  const rows = [];
  for (const [count, dimension, clusterSize] of cases) {
    const vectors = clusteredVectors(count, dimension, clusterSize);
    const chunks = Array.from({ length: count }, (_, n) => ({ text: `passage ${n}`, metadata: { n } }));
    const embeddings = chunks.map((_, n) => ({
      vector: Array.from(vectors.subarray(n * dimension, (n + 1) * dimension)),
    }));
    const contenders = { quiver: new GraphRAG(dimension, threshold), anchor: new Anchor(dimension, threshold) };
    const build = { quiver: [], anchor: [] };
    const query = { quiver: [], anchor: [] };
    for (let round = 0; round < 3; round += 1) {
      for (const name of ['quiver', 'anchor']) {
        contenders[name].clear();
        build[name].push(timed(() => contenders[name].createGraph(chunks, embeddings)));
      }
    }
    const edges = [contenders.quiver, contenders.anchor].map((graph) => graph.getEdges().length);
    if (clusterSize <= 20 && edges[0] !== edges[1]) throw new Error(`The graphs differ: ${edges.join(' and ')} edges.`);
    for (const graph of Object.values(contenders)) {
      const start = performance.now();
      for (let n = 0; n < 5 || performance.now() - start < warmUpMs; n += 1)
        graph.query({ query: embeddings[(n * 7919) % count].vector, ...settings });
    }
    for (let round = 0; round < 7; round += 1) {
      for (const [name, repeats] of Object.entries({ quiver: 10, anchor: 1 })) {
        const question = embeddings[(round * 997) % count].vector;
        const ask = () => {
          for (let n = 0; n < repeats; n += 1) contenders[name].query({ query: question, ...settings });
        };
        query[name].push(timed(ask) / repeats);
      }
    }
    rows.push([
      `${count.toLocaleString('en')} × ${dimension}, clusters of ${clusterSize}`,
      [...new Set(edges)].map((number) => number.toLocaleString('en')).join(' and '),
      ...ratio(median(build.quiver), median(build.anchor)),
      ...ratio(median(query.quiver), median(query.anchor)),
    ]);
  }
  return table(
    ['nodes × dimension', 'edges', 'build, Quiver', '@mastra/rag', 'ratio', 'query, Quiver', '@mastra/rag', 'ratio'],
    rows,
  );
}

function ratio(own, other) {
  return [toMs(own), toMs(other), `1/${(other / own).toFixed(other / own < 10 ? 1 : 0)}`];
}

function toMs(value) {
  return `${value < 100 ? value.toPrecision(3) : Math.round(value).toLocaleString('en')} ms`;
}

/** Returns the duration in milliseconds. */
function timed(run) {
  const start = performance.now();
  run();
  return performance.now() - start;
}
