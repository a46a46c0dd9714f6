import { record } from '../../record.mjs';
import { names } from '../systems.mjs';
import { table } from '../report.mjs';

const count = 1000;

/** Measures the heap per session after garbage collection, and the CPU time that opens a session. */
export async function sessionMemory({ start, client }) {
  const rows = [];
  for (const name of ['sdk1', 'sdk2', 'quiver']) {
    const server = await start(name, 'sessions');
    const open = (options) => client.run({ job: 'open', url: server.url, ...options });
    await open({ count: 300, end: true });
    const empty = await server.ask('heap');
    await open({ count, end: true });
    const ended = await server.ask('heap');
    await open({ count, end: false });
    const opened = await server.ask('heap');
    const kilobytes = (after, before) => ((after.heapUsed - before.heapUsed) / count / 1024).toFixed(2);
    record(`server/session/kilobytes/${names[name]}`, Number(kilobytes(opened, ended)));
    rows.push([
      name,
      [kilobytes(opened, ended), kilobytes(ended, empty), ((opened.cpu - ended.cpu) / count).toFixed(0)],
    ]);
    server.stop();
  }
  return table(['KB while open', 'KB after DELETE', 'CPU µs to open'], rows);
}
