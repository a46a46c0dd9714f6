/** Restarts and kills processes behind a balancer without stickiness, while clients use them. Counts lost and repeated calls. */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startBalancer } from './balancer.ts';
import { sdk2, taskKind } from './clients.ts';
import { findPort, Instance } from './instances.ts';
import { Load, type Call, type Watcher } from './load.ts';
import { startNginx } from './nginx.ts';
import { countCalls, describeErrors, readNotes } from './results.ts';
import { openStore } from './shared-store.ts';

/** Seconds until subscribers know a change, and calls of a killed process have failed: several times what an idle machine needs. */
const MAX_DELAY = 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Path of nginx. Default: the balancer of `balancer.ts`. */
    nginx: { type: 'string' },
    /** How often each process is restarted. */
    rounds: { type: 'string', default: '1' },
    /** Milliseconds of a slow call. */
    call: { type: 'string', default: '1500' },
    /** Tables or keys in the store begin with it. */
    name: { type: 'string', default: 'quiver_example' },
    /** Kills the process that runs a task, which another one repeats 20 seconds later. Default: one without a task. */
    'kill-task': { type: 'boolean', default: false },
  },
});
const [storeUrl = 'memory'] = positionals;
const { sharedStore, close } = await openStore(storeUrl, values.name);
const store = { storeUrl, storeName: values.name, sharedStore };
const instances = await Promise.all(['1', '2', '3'].map(async (name) => new Instance(name, await findPort(), store)));
await Promise.all(instances.map((instance) => instance.start()));
const ports = instances.map(({ port }) => port);
const balancer = values.nginx ? await startNginx(values.nginx, ports) : await startBalancer(ports);
const load = new Load(balancer.url, Number(values.call));
await load.start();
const problems: string[] = [];
let changes = 0;

await inform();
const killed = await kill(await chooseProcess());
for (let round = 1; round <= Number(values.rounds); round += 1)
  for (const instance of instances) await restart(instance);
await examine(killed);

await load.stop();
const counts = countCalls(load.calls, await readNotes(sharedStore, 'done'));
console.table(counts);
console.log(`${load.watchers.length} subscribers, ${changes} changes`);
problems.push(...describeErrors(load.calls.filter(({ error, isKilled }) => error && !isKilled)));
for (const [kind, { lost, repeated, unanswered }] of Object.entries(counts))
  if (lost + repeated + unanswered > 0) problems.push(`${kind}: calls were lost or repeated, or orders not answered`);
for (const problem of problems) console.log(problem);

await balancer.close();
await Promise.all(instances.map((instance) => instance.end('SIGTERM')));
await close();
process.exit(problems.length === 0 ? 0 : 1);

async function restart(instance: Instance): Promise<void> {
  const begin = performance.now();
  const code = await instance.end('SIGTERM');
  console.log(`process ${instance.name}: SIGTERM, ended after ${((performance.now() - begin) / 1_000).toFixed(1)} s`);
  if (code !== 0) problems.push(`process ${instance.name}: exit code ${code}`);
  await instance.start();
  await inform();
}

/** Calls that were in flight when a process was killed. */
interface Killed {
  readonly instance: Instance;
  readonly time: number;
  readonly inFlight: readonly Call[];
}

async function kill(instance: Instance): Promise<Killed> {
  const time = performance.now();
  await instance.end('SIGKILL');
  const inFlight = load.calls.filter(({ end = Infinity }) => end > time);
  await instance.start();
  await inform();
  // Tasks take longer, because another process runs them again.
  const isAwaited = ({ kind, role, end }: Call): boolean => end === undefined && kind !== sdk2 && role !== 'report';
  while (inFlight.some(isAwaited)) await setTimeout(20);
  return { instance, time, inFlight };
}

/** Waits for all calls that were in flight. Only those of the killed process may have failed, each after a few seconds. */
async function examine({ instance, time, inFlight }: Killed): Promise<void> {
  while (inFlight.some(({ end }) => end === undefined)) await setTimeout(20);
  const started = await readNotes(sharedStore, 'started');
  const isHere = ({ id }: Call): boolean => (started.get(id) ?? []).every((name) => name === instance.name);
  const calls = inFlight.filter(isHere);
  const failed = calls.filter(({ error }) => error);
  for (const call of failed) call.isKilled = true;
  const delays = failed.filter(({ kind }) => kind !== sdk2).map(({ end = 0 }) => (end - time) / 1_000);
  const delay = Math.max(0, ...delays);
  console.log(
    `process ${instance.name}: SIGKILL, ${failed.length} of its ${calls.length} calls failed, the last after ${delay.toFixed(1)} s`,
  );
  for (const line of describeErrors(failed)) console.log(`  ${line}`);
  if (delay > MAX_DELAY) problems.push('A call of the killed process failed too late.');
}

/** Returns the process to kill. */
async function chooseProcess(): Promise<Instance> {
  for (;;) {
    const started = await readNotes(sharedStore, 'started');
    const task = load.calls.find(({ kind, role, end }) => kind === taskKind && role === 'report' && end === undefined);
    const [runner] = (task && started.get(task.id)) ?? [];
    const chosen = runner && instances.find(({ name }) => (name === runner) === values['kill-task']);
    if (chosen) return chosen;
    await setTimeout(20);
  }
}

/** Changes the weather, and waits until all subscribers know it. */
async function inform(): Promise<void> {
  changes += 1;
  await load.setWeather(changes);
  const begin = performance.now();
  const isMissed = ({ known }: Watcher): boolean => known < changes;
  while (load.watchers.some(isMissed) && performance.now() - begin < MAX_DELAY * 1_000) await setTimeout(20);
  for (const { kind } of load.watchers.filter(isMissed))
    problems.push(`${kind}: a subscriber missed change ${changes}`);
}
