// Runs one measured client in a separate process: imports it, connects, calls tools, and reports time and memory.
const [file, era, variant] = process.argv.slice(2);

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const heap = async () => {
  for (let count = 0; count < 8; count += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return process.memoryUsage().heapUsed;
};

const urlsOf = (url, count, form) => Array.from({ length: count }, (_, index) => `${url}/${form}/${index}`);

let connect;
let open;

async function timed(run) {
  const before = { cpu: cpu(), at: performance.now() };
  const result = await run();
  return { result, milliseconds: performance.now() - before.at, cpu: (cpu() - before.cpu) / 1000 };
}

const jobs = {
  /** Measures the time until the tools of `count` servers are listed: first including the import of the client, then warm. */
  start: async ({ url, count }) => {
    const loading = await timed(async () => {
      ({ connect } = await import(file));
    });
    const cold = await timed(() => connect(urlsOf(url, count, 'json'), era));
    if (cold.result.tools.length !== count * 50) throw new Error(`${cold.result.tools.length} tools`);
    await cold.result.close();
    const again = [];
    for (let time = 0; time < 5; time += 1) {
      const warm = await timed(() => connect(urlsOf(url, count, 'json'), era));
      again.push(warm);
      await warm.result.close();
    }
    again.sort((a, b) => a.milliseconds - b.milliseconds);
    return {
      loading: loading.milliseconds,
      cold: cold.milliseconds,
      total: loading.milliseconds + cold.milliseconds,
      totalCpu: loading.cpu + cold.cpu,
      warm: again[2].milliseconds,
      warmCpu: again[2].cpu,
    };
  },
  open: async ({ url, form }) => {
    ({ connect } = await import(file));
    open = await connect(urlsOf(url, 1, form), era, variant);
    return {};
  },
  load: async ({ inFlight, seconds, size = 0 }) => {
    const padding = 'x'.repeat(size);
    let calls = 0;
    const { milliseconds, cpu: used } = await timed(async () => {
      const end = performance.now() + seconds * 1000;
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          while (performance.now() < end) {
            const message = `m${(calls += 1)}${padding}`;
            if ((await open.call(message)) !== message) throw new Error('The server sent a wrong result.');
          }
        }),
      );
    });
    return { perSecond: (calls / milliseconds) * 1000, cpu: (used * 1000) / calls, rss: process.memoryUsage().rss };
  },
  /** Measures the heap in KB per open connection: with its 50 tools, after each tool was read, and without them. */
  heap: async ({ url, count }) => {
    ({ connect } = await import(file));
    const warm = await connect(urlsOf(url, 2, 'json'), era);
    const before = await heap();
    let { tools, close } = await connect(urlsOf(url, count, 'json'), era);
    const held = (await heap()) - before;
    if (tools.length !== count * 50) throw new Error(`${tools.length} tools`);
    // The first read of a tool creates objects that stay in memory.
    for (const tool of tools) if (Object.values(tool).length === 0) throw new Error('A tool has no members.');
    const read = (await heap()) - before;
    tools = undefined;
    const without = (await heap()) - before;
    await close();
    await warm.close();
    const perConnection = (bytes) => bytes / count / 1024;
    return { held: perConnection(held), read: perConnection(read), without: perConnection(without) };
  },
};

process.on('message', async ({ job, ...options }) => {
  try {
    process.send({ result: await jobs[job](options) });
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  }
});
