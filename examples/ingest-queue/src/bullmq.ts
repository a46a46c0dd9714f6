// node src/bullmq.ts plan    adds a job for each part of the folder, and one that ends the plan
// node src/bullmq.ts work    runs jobs until it is stopped; start as many as you like
import {
  finishIngest,
  ingestPart,
  planIngest,
  type IngestPart,
  type IngestPartReport,
  type IngestPlan,
} from '@quiver/rag';
import { listFiles } from '@quiver/loaders';
import { createClient } from '@redis/client';
import { FlowProducer, Worker } from 'bullmq';
import { folder, indexName, partOptions, store } from './target.ts';

const { QUIVER_REDIS_URL: url = 'redis://127.0.0.1:6379', PREFIX: prefix = 'ingest' } = process.env;
/** Seconds after which another worker runs the job of one that was killed. */
const recovery = Number(process.env['RECOVERY'] ?? 10);
const connection = createClient({ url });
connection.on('error', (error) => console.error(`Redis: ${error.message}`));
await connection.connect();
const queue = { connection, prefix };

async function plan(): Promise<void> {
  const { plan, parts } = await planIngest({ sources: listFiles(folder), vectorStore: store, indexName, partSize: 10 });
  const flow = new FlowProducer(queue);
  await flow.add({
    name: 'finish',
    queueName: 'finish',
    data: plan,
    children: parts.map((part) => ({
      name: 'part',
      queueName: 'parts',
      data: part,
      // The id has the plan and the content in it: a job of an earlier plan never hides this one.
      opts: { jobId: part.id, attempts: 5, backoff: { type: 'exponential', delay: 1000 }, failParentOnFailure: true },
    })),
  });
  console.log(`planned ${parts.length} parts`);
  await flow.close();
}

function work(): void {
  const options = { ...queue, lockDuration: recovery * 1000, stalledInterval: recovery * 500, maxStalledCount: 10 };
  const parts = new Worker<IngestPart, IngestPartReport>(
    'parts',
    async ({ data }) => {
      console.log(`part ${data.id}`);
      return ingestPart(data, partOptions);
    },
    options,
  );
  const finish = new Worker<IngestPlan>(
    'finish',
    async (job) => {
      const reports = Object.values(await job.getChildrenValues<IngestPartReport>());
      console.log(`finished ${JSON.stringify(await finishIngest(job.data, reports, { vectorStore: store }))}`);
    },
    options,
  );
  const stop = async (): Promise<void> => {
    await Promise.all([parts.close(), finish.close()]);
    await end();
  };
  for (const worker of [parts, finish]) worker.on('error', (error) => console.error(error.message));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
}

async function end(): Promise<void> {
  await store.close();
  await connection.close();
}

if (process.argv[2] === 'work') work();
else await plan().finally(end);
