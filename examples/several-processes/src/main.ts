/** Three processes behind a balancer without stickiness. Two of them are killed. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MCPClient, type TaskHandle } from '@quiver/mcp';
import { startBalancer } from './balancer.ts';
import { openStore } from './shared-store.ts';

const [, , storeUrl, name = 'quiver_example'] = process.argv;
if (storeUrl === undefined) throw new Error('Pass the URL of a PostgreSQL or Redis server.');

const instances: ChildProcess[] = [];
const ports: number[] = [];
for (const number of ['1', '2', '3']) {
  const env = { ...process.env, INSTANCE: number, STORE_URL: storeUrl, STORE_NAME: name };
  const instance = fork(fileURLToPath(new URL('./instance.ts', import.meta.url)), { env });
  const [{ port }] = (await once(instance, 'message')) as [{ port: number }];
  instances.push(instance);
  ports.push(port);
}
const { sharedStore, close } = await openStore(storeUrl, name);
const balancer = await startBalancer(ports);

/** Called with the number of the instance that sends an elicitation request. */
let onElicitation: (instance: number) => Promise<void> = async () => {};
const updates = { legacy: 0, modern: 0 };

const servers = { weather: { url: new URL(balancer.url), protocol: 'modern' as const } };
const reporter = new MCPClient({ id: 'reporter', servers });
/** Tasks that wait, at least one at each instance. */
const reports: { handle: TaskHandle; log: string; instance: string }[] = [];
while (new Set(reports.map(({ instance }) => instance)).size < instances.length) {
  const log = `report ${crypto.randomUUID()}`;
  const handle = await reporter.tasks.start({ serverName: 'weather', name: 'report', args: { report: log } });
  reports.push({ handle, log, instance: await firstRunner(log) });
}

for (const protocol of ['legacy', 'modern'] as const) {
  const mcp = new MCPClient({ id: protocol, servers: { weather: { url: new URL(balancer.url), protocol } } });
  await mcp.elicitation.onRequest('weather', async () => {
    await onElicitation(Number((await sharedStore.get('asking'))?.value));
    return { action: 'accept', content: { count: 3 } };
  });
  const tools = await mcp.listTools();
  // oxlint-disable-next-line typescript/no-explicit-any -- results of several tools
  const call = async (tool: string, input: Record<string, unknown> = {}): Promise<any> =>
    tools[`weather_${tool}`]?.execute?.(input);
  const alive = (): ChildProcess[] => instances.filter(({ killed }) => !killed);

  const served = new Set<string>();
  for (let count = 0; count < 12; count += 1) served.add(textOf(await call('whoAmI')));
  console.log(`${protocol}: served by ${served.size} instances of ${alive().length}`);

  console.log(`${protocol}: ${textOf(await call('order'))}`);

  await mcp.resources.onUpdated('weather', () => (updates[protocol] += 1));
  await mcp.resources.subscribe('weather', 'weather://oslo');
  await updated(call, protocol);
  console.log(`${protocol}: notified of a change`);

  onElicitation = async (number) => {
    onElicitation = async () => {};
    const instance = instances[number - 1] as ChildProcess;
    instance.kill('SIGKILL');
    // Until then, the system may accept connections for it.
    await once(instance, 'exit');
  };
  const orders = (await sharedStore.read('orders')).length;
  const outcome = await call('order').then(textOf, (error: Error) => {
    if (error.message.includes('its result is unknown')) return 'the result is unknown';
    throw error;
  });
  const added = (await sharedStore.read('orders')).length - orders;
  console.log(`${protocol}: after the end of the instance that asked: ${outcome}, ${added} more orders`);

  await updated(call, protocol);
  console.log(`${protocol}: notified of a change`);
  await mcp.disconnect();
  if (protocol === 'legacy') await endReports();
}
await reporter.disconnect();

balancer.close();
for (const instance of instances) instance.kill();
await Promise.all(instances.map((instance) => instance.exitCode ?? instance.signalCode ?? once(instance, 'exit')));
await close();

/** Returns the number of the instance that runs a task first. */
async function firstRunner(log: string): Promise<string> {
  for (;;) {
    const [run] = await sharedStore.read(log);
    if (run) return run.value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Lets the tasks end. Those of the killed instance run again at another one. */
async function endReports(): Promise<void> {
  const dead = `${instances.findIndex(({ killed }) => killed) + 1}`;
  for (const { log } of reports) await sharedStore.put(`end of ${log}`, 'now');
  for (const { handle, log, instance } of reports) {
    const outcome = textOf(await reporter.tasks.result(handle));
    const runs = (await sharedStore.read(log)).map(({ value }) => value);
    const isRight = instance === dead ? runs.length === 2 && runs[1] !== dead : runs.length === 1;
    if (!isRight || outcome !== `Reported by ${runs.at(-1)}.`) throw new Error(`${outcome} Runs: ${runs.join(', ')}`);
  }
  console.log('tasks: all completed, those of the instance that was killed at another one');
}

function textOf(result: unknown): string {
  if (typeof result === 'string') return result;
  const { content } = result as { content?: { text: string }[] };
  return content?.[0]?.text ?? JSON.stringify(result);
}

/** Changes the weather until the client is notified: a stream that broke may be open again only after a while. */
async function updated(
  call: (tool: string, input: Record<string, unknown>) => Promise<unknown>,
  protocol: 'legacy' | 'modern',
): Promise<void> {
  const before = updates[protocol];
  for (let attempt = 0; attempt < 60 && updates[protocol] === before; attempt += 1) {
    await call('setWeather', { weather: `rain ${attempt}` });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  if (updates[protocol] === before) throw new Error('No change arrived.');
}
