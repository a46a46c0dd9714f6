// node src/pg-boss.ts plan    adds a job for each part of the folder, and one that ends the plan
// node src/pg-boss.ts work    runs jobs until it is stopped; start as many as you like
import {
  finishIngest,
  ingestPart,
  planIngest,
  type IngestPart,
  type IngestPartReport,
  type IngestPlan,
} from '@quiver/rag';
import { listFiles } from '@quiver/loaders';
import PgBoss from 'pg-boss';
import { folder, indexName, partOptions, postgresUrl, store } from './target.ts';

const { SCHEMA: schema = 'pgboss' } = process.env;
/** Seconds after which another worker runs the job of one that was killed: more than a part takes. */
const recovery = Number(process.env['RECOVERY'] ?? 300);
const boss = new PgBoss({ connectionString: postgresUrl, schema, maintenanceIntervalSeconds: Math.min(recovery, 60) });
boss.on('error', (error) => console.error(error.message));
await boss.start();
const retried = { retryDelay: 1, expireInSeconds: recovery };
await boss.createQueue('parts', { name: 'parts', ...retried, retryLimit: 20 });
await boss.createQueue('finish', { name: 'finish', ...retried, retryLimit: 1000 });

/** pg-boss names jobs by UUIDs. The id of a part has the plan and the content in it: a job of an earlier plan never hides this one. */
const toUuid = (id: string): string => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

async function plan(): Promise<void> {
  const { plan, parts } = await planIngest({ sources: listFiles(folder), vectorStore: store, indexName, partSize: 10 });
  await boss.insert(parts.map((part) => ({ id: toUuid(part.id), name: 'parts', data: part })));
  await boss.send('finish', plan);
  console.log(`planned ${parts.length} parts`);
}

async function work(): Promise<void> {
  await boss.work<IngestPart>('parts', { pollingIntervalSeconds: 1 }, async ([job]) => {
    if (!job) return undefined;
    console.log(`part ${job.data.id}`);
    return ingestPart(job.data, partOptions);
  });
  await boss.work<IngestPlan>('finish', { pollingIntervalSeconds: 1 }, async ([job]) => {
    if (!job) return;
    const jobs = await Promise.all(job.data.parts.map((id) => boss.getJobById('parts', toUuid(id))));
    const reports = jobs.flatMap((one) => (one?.state === 'completed' ? [one.output as IngestPartReport] : []));
    // Throws as long as a part has no report, and is retried.
    console.log(`finished ${JSON.stringify(await finishIngest(job.data, reports, { vectorStore: store }))}`);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());
}

async function end(): Promise<void> {
  await boss.stop();
  await store.close();
}

if (process.argv[2] === 'work') await work();
else await plan().finally(end);
