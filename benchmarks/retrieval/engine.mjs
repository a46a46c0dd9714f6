// Runs one vector engine in a separate process, so that caches and threads of other engines do not affect it.
// Arguments: module of the engine, number of vectors, dimension, number of queries.
import { createVectors } from './data.mjs';

const [file, count, dimension, questions] = process.argv.slice(2);
const engine = await import(file);
let { vectors, queries } = createVectors(Number(count), Number(dimension), Number(questions));
let index;

async function seconds(work) {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

const jobs = {
  name: async () => engine.name,
  fill: async ({ folder }) => {
    const filled = await seconds(() => engine.fill(folder, vectors));
    // A program that opens an existing index does not hold its vectors in memory.
    vectors = undefined;
    return filled;
  },
  open: async ({ folder }) => {
    await index?.close();
    return seconds(async () => {
      index = await engine.open(folder);
    });
  },
  /** Returns the resident memory of this process in bytes, including about 50 MB of Node. */
  memory: async () => process.memoryUsage().rss,
  first: ({ topK }) => seconds(() => index.query(queries[0], topK)),
  /** Runs all queries. Returns the duration of each and the rows found. */
  ask: async ({ topK, part }) => {
    const [times, found] = [[], []];
    for (const query of queries) {
      times.push(
        await seconds(async () => {
          found.push(await index.query(query, topK, part));
        }),
      );
    }
    return { times, found };
  },
};

process.on('message', async ({ job, ...options }) => {
  try {
    process.send({ result: await jobs[job](options) });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
