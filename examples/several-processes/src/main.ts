/** Three processes behind a balancer without stickiness. Two of them are killed. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MCPClient } from '@quiver/mcp';
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
    // Until its end, it accepts connections and breaks them.
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
}

balancer.close();
for (const instance of instances) instance.kill();
await Promise.all(instances.map((instance) => instance.exitCode ?? instance.signalCode ?? once(instance, 'exit')));
await close();

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
