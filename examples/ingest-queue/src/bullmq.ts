// node src/bullmq.ts plan    adds a job for each part of the folder, and one that ends the plan
// node src/bullmq.ts work    runs jobs until it is stopped; start as many as you like
import { createClient } from '@redis/client';
import { FlowProducer, Worker } from 'bullmq';
import { finishPlan, makePlan, runPart, type Part, type PartReport, type Plan } from './plan.ts';
import { store, target } from './target.ts';

const { QUIVER_REDIS_URL: url = 'redis://127.0.0.1:6379', PREFIX: prefix = 'ingest' } = process.env;
/** Seconds after which another worker runs the job of one that was killed. */
const recovery = Number(process.env['RECOVERY'] ?? 10);
const connection = createClient({ url });
connection.on('error', (error) => console.error(`Redis: ${error.message}`));
await connection.connect();
const queue = { connection, prefix };

async function plan(): Promise<void> {
  const { plan, parts } = await makePlan(target);
  const flow = new FlowProducer(queue);
  await flow.add({
    name: 'finish',
    queueName: 'finish',
    data: plan,
    children: parts.map((part) => ({
      name: 'part',
      queueName: 'parts',
      data: part,
      opts: { jobId: part.id, attempts: 5, backoff: { type: 'exponential', delay: 1000 }, failParentOnFailure: true },
    })),
  });
  console.log(`planned ${parts.length} parts`);
  await flow.close();
}

function work(): void {
  const options = { ...queue, lockDuration: recovery * 1000, stalledInterval: recovery * 500, maxStalledCount: 10 };
  const parts = new Worker<Part, PartReport>(
    'parts',
    async ({ data }) => {
      console.log(`part ${data.id}`);
      return runPart(data, target);
    },
    options,
  );
  const finish = new Worker<Plan>(
    'finish',
    async (job) => {
      const reports = Object.values(await job.getChildrenValues<PartReport>());
      console.log(`finished ${JSON.stringify(await finishPlan(job.data, reports, target))}`);
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
