import { record } from '../../record.mjs';
import { inTurn, median, ratiosOf } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { names } from '../systems.mjs';

const count = 200;

/** Measures the heap per session after garbage collection, and the CPU time that opens a session. */
export async function sessionMemory({ start, client, official, rounds }) {
  const servers = [];
  for (const name of [...official, 'quiver']) servers.push(await start(name, 'sessions'));
  const results = await inTurn(servers, Math.min(rounds, 3) + 1, async ({ url, ask }) => {
    const empty = await ask('heap');
    await client.run({ job: 'open', url, count, end: true });
    const ended = await ask('heap');
    await client.run({ job: 'open', url, count, end: false });
    const opened = await ask('heap');
    const kilobytes = (after, before) => (after.heapUsed - before.heapUsed) / count / 1024;
    return {
      open: kilobytes(opened, ended),
      ended: kilobytes(ended, empty),
      cpu: (opened.cpu - ended.cpu) / count,
    };
  });
  const rows = servers.map(({ name, stop }, index) => {
    // The first round warms up.
    const valuesOf = (key, system = index) => results[system].slice(1).map((row) => row[key]);
    record(`server/session/kilobytes/${names[name]}`, valuesOf('open'));
    record(`server/session/open/heap-to-sdk1/${names[name]}`, ratiosOf(valuesOf('open'), valuesOf('open', 0)));
    record(`server/session/open/cpu-to-sdk1/${names[name]}`, ratiosOf(valuesOf('cpu'), valuesOf('cpu', 0)));
    stop();
    const of = (key, digits) => median(valuesOf(key)).toFixed(digits);
    return [name, [of('open', 2), of('ended', 2), of('cpu', 0)]];
  });
  return table(['KB while open', 'KB after DELETE', 'CPU µs to open'], rows);
}
