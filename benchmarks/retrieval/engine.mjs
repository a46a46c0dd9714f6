// One engine for vectors in a process of its own: what others leave in the caches and threads of a process is not theirs to bear.
// Arguments: the module of the engine, how many vectors, their dimension, how many questions.
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
    // Nobody who opens an index has its vectors already.
    vectors = undefined;
    return filled;
  },
  open: async ({ folder }) => {
    await index?.close();
    return seconds(async () => {
      index = await engine.open(folder);
    });
  },
  /** Resident memory of this process in bytes, including about 50 MB of Node. */
  memory: async () => process.memoryUsage().rss,
  first: ({ topK }) => seconds(() => index.query(queries[0], topK)),
  /** All questions: how long each took, and the rows that were found. */
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
