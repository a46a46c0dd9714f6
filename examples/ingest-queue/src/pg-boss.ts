// node src/pg-boss.ts plan    adds a job for each part of the folder, and one that ends the plan
// node src/pg-boss.ts work    runs jobs until it is stopped; start as many as you like
import PgBoss from 'pg-boss';
import { finishPlan, makePlan, runPart, type Part, type PartReport, type Plan } from './plan.ts';
import { postgresUrl, store, target } from './target.ts';

const { SCHEMA: schema = 'pgboss' } = process.env;
/** Seconds after which another worker runs the job of one that was killed: more than a part takes. */
const recovery = Number(process.env['RECOVERY'] ?? 300);
const boss = new PgBoss({ connectionString: postgresUrl, schema, maintenanceIntervalSeconds: Math.min(recovery, 60) });
boss.on('error', (error) => console.error(error.message));
await boss.start();
const retried = { retryDelay: 1, expireInSeconds: recovery };
await boss.createQueue('parts', { name: 'parts', ...retried, retryLimit: 20 });
await boss.createQueue('finish', { name: 'finish', ...retried, retryLimit: 1000 });

async function plan(): Promise<void> {
  const { plan, parts } = await makePlan(target);
  await boss.insert(parts.map((part) => ({ id: part.id, name: 'parts', data: part })));
  await boss.send('finish', plan);
  console.log(`planned ${parts.length} parts`);
}

async function work(): Promise<void> {
  await boss.work<Part>('parts', { pollingIntervalSeconds: 1 }, async ([job]) => {
    if (!job) return undefined;
    console.log(`part ${job.data.id}`);
    return runPart(job.data, target);
  });
  await boss.work<Plan>('finish', { pollingIntervalSeconds: 1 }, async ([job]) => {
    if (!job) return;
    const jobs = await Promise.all(job.data.parts.map((id) => boss.getJobById('parts', id)));
    const reports = jobs.flatMap((one) => (one?.state === 'completed' ? [one.output as PartReport] : []));
    // Throws as long as a part has no report, and is retried.
    console.log(`finished ${JSON.stringify(await finishPlan(job.data, reports, target))}`);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());
}

async function end(): Promise<void> {
  await boss.stop();
  await store.close();
}

if (process.argv[2] === 'work') await work();
else await plan().finally(end);
