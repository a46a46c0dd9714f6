import { median, ratioOf, table } from '../report.mjs';
import { coldStart, stdioCalls } from '../stdio.mjs';
import { systemsOf } from '../systems.mjs';

/** Measures the calls per second, and the time from spawn to the `initialize` response. */
export async function stdio({ anchors, source, rounds, seconds }) {
  const systems = systemsOf('stdio', anchors).map(({ name }) => ({ name, source, folder: anchors[name]?.folder }));
  const inEveryRound = async (times, run) => {
    const results = new Map(systems.map(({ name }) => [name, []]));
    for (let round = 0; round < times; round += 1)
      for (const system of systems) results.get(system.name).push(await run(system));
    return results;
  };
  const one = await inEveryRound(rounds, (system) => stdioCalls({ ...system, inFlight: 1, seconds }));
  const many = await inEveryRound(rounds, (system) => stdioCalls({ ...system, inFlight: 32, seconds }));
  const cold = await inEveryRound(rounds + 2, coldStart);
  const rows = systems.map(({ name }) => {
    const ratio = (results) => ratioOf(results.get(name), results.get(systems[0].name)).toFixed(2);
    const start = cold.get(name);
    const started = `${median(start).toFixed(0)} (${Math.min(...start).toFixed(0)}) · ${ratio(cold)}`;
    return [name, [ratio(one), ratio(many), started]];
  });
  return table(['1 in flight', '32 in flight', 'cold start'], rows);
}
