/** Restarts and kills processes behind a balancer without stickiness, while clients use them. Counts lost and repeated calls. */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startBalancer, type Balancer } from './balancer.ts';
import { sdk2, taskKind } from './clients.ts';
import { findPort, Instance } from './instances.ts';
import { Load, type Call, type Watcher } from './load.ts';
import { drainDelayOf, startProxy } from './proxy.ts';
import { countCalls, describeErrors, readNotes } from './results.ts';
import { openStore } from './shared-store.ts';

/** Seconds until calls of a killed process have failed: several times what an idle machine needs. */
const MAX_DELAY = 20;
/** Seconds until subscribers know a change: a client waits up to 60 for the server to acknowledge a stream. */
const MAX_SUBSCRIBER_DELAY = 75;
/** Milliseconds between two notifications of a change. */
const NOTIFICATION_INTERVAL = 2_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Path of nginx, HAProxy or Caddy. Default: the balancer of `balancer.ts`. */
    proxy: { type: 'string' },
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
const options = { storeUrl, storeName: values.name, sharedStore, drainDelay: drainDelayOf(values.proxy) };
const instances = await Promise.all(['1', '2', '3'].map(async (name) => new Instance(name, await findPort(), options)));
await Promise.all(instances.map((instance) => instance.start()));
const ports = instances.map(({ port }) => port);
const balancer: Balancer = values.proxy ? await startProxy(values.proxy, ports) : await startBalancer(ports);
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
if (balancer.undelivered !== undefined)
  console.log(`${balancer.undelivered} answers of users were not delivered at the first time`);
for (const call of load.calls.filter(({ error, isKilled }) => error && !isKilled))
  problems.push(`${call.role} from ${seconds(call.begin)} to ${seconds(call.end)} s, ${describeErrors([call])[0]}`);
for (const [kind, { lost, repeated, unanswered }] of Object.entries(counts))
  if (lost + repeated + unanswered > 0) problems.push(`${kind}: calls were lost or repeated, or orders not answered`);
for (const problem of problems) console.log(problem);

await balancer.close();
await Promise.all(instances.map((instance) => instance.end('SIGTERM')));
await close();
process.exit(problems.length === 0 ? 0 : 1);

async function restart(instance: Instance): Promise<void> {
  const begin = performance.now();
  balancer.isRestarting = true;
  const code = await instance.end('SIGTERM');
  const time = seconds(performance.now() - begin);
  console.log(`process ${instance.name}: SIGTERM at ${seconds(begin)} s, ended after ${time} s`);
  if (code !== 0) problems.push(`process ${instance.name}: exit code ${code}`);
  await instance.start();
  balancer.isRestarting = false;
  await inform();
}

/** The end of a killed process, and the calls that were in flight at all processes. */
interface Killed {
  readonly instance: Instance;
  readonly time: number;
  readonly exit: number;
  readonly inFlight: readonly Call[];
}

async function kill(instance: Instance): Promise<Killed> {
  const time = performance.now();
  await instance.end('SIGKILL');
  const exit = performance.now();
  const inFlight = load.calls.filter(({ end }) => end === undefined);
  await instance.start();
  await inform();
  // Tasks take longer, because another process runs them again.
  const isAwaited = ({ kind, role, end }: Call): boolean => end === undefined && kind !== sdk2 && role !== 'report';
  while (inFlight.some(isAwaited) && performance.now() - exit < 8_000) await setTimeout(20);
  return { instance, time, exit, inFlight };
}

/** Waits for all calls that were in flight. Only those of the killed process may have failed, each after a few seconds. */
async function examine({ instance, time, exit, inFlight }: Killed): Promise<void> {
  while (inFlight.some(({ end }) => end === undefined)) await setTimeout(20);
  const started = await readNotes(sharedStore, 'started');
  const isHere = ({ id }: Call): boolean => (started.get(id) ?? []).every((name) => name === instance.name);
  // An order of another process fails when the answer of its user was sent to this one.
  const isConcerned = (call: Call): boolean => isHere(call) || (call.role === 'order' && call.error !== undefined);
  // Connections of a proxy to the process may look open for a moment.
  const calls = load.calls.filter(({ begin, end = 0 }) => begin < exit + 500 && end > time).filter(isConcerned);
  const failed = calls.filter(({ error }) => error);
  for (const call of failed) call.isKilled = true;
  const expected = failed.filter((call) => call.kind !== sdk2 && isHere(call));
  const delay = Math.max(0, ...expected.map(({ end = 0 }) => end - time));
  console.log(
    `process ${instance.name}: SIGKILL at ${seconds(time)} s, ${failed.length} of its ${calls.length} calls failed, the last after ${seconds(delay)} s`,
  );
  for (const line of describeErrors(failed)) console.log(`  ${line}`);
  if (delay > MAX_DELAY * 1_000) problems.push('A call of the killed process failed too late.');
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

/** Changes the weather until all subscribers know it: those whose stream is being opened again miss a notification. */
async function inform(): Promise<void> {
  changes += 1;
  const begin = performance.now();
  const isMissed = ({ known }: Watcher): boolean => known < changes;
  const elapsed = (): number => performance.now() - begin;
  for (let count = 1; load.watchers.some(isMissed) && elapsed() < MAX_SUBSCRIBER_DELAY * 1_000; count += 1) {
    await load.setWeather(changes);
    while (load.watchers.some(isMissed) && elapsed() < count * NOTIFICATION_INTERVAL) await setTimeout(20);
  }
  if (elapsed() > NOTIFICATION_INTERVAL)
    console.log(`  all subscribers know change ${changes} after ${seconds(elapsed())} s`);
  for (const { kind } of load.watchers.filter(isMissed))
    problems.push(`${kind}: a subscriber missed change ${changes}`);
}

/** @param milliseconds - since the start of the program, or between two events */
function seconds(milliseconds = 0): string {
  return (milliseconds / 1_000).toFixed(1);
}
