import { record } from '../../record.mjs';
import { median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { coldStart, stdioCalls } from '../stdio.mjs';
import { names, systemsOf } from '../systems.mjs';

/**
 * Measures calls per second, the CPU time of the server per call, and the time from spawn to the `initialize` response. The cold start is
 * compared with the bare server that loads the same schema library.
 */
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
  const cold = await inEveryRound(rounds + 2, async (system) => ({ milliseconds: await coldStart(system) }));
  const valuesOf = (results, name, key) => results.get(name).map((result) => result[key]);
  const ratios = (results, key, name, base = systems[0].name) =>
    ratiosOf(valuesOf(results, name, key), valuesOf(results, base, key));
  const ratio = (...given) => withSpread(ratios(...given));
  const rows = systems.map(({ name }) => {
    for (const [load, results] of Object.entries({ 1: one, 32: many }))
      record(`server/stdio/echo@${load}/cpu-to-bare/${names[name]}`, ratios(results, 'cpu', name, 'bare'));
    const floor = name === 'quiver-json' ? 'bare' : 'bare-zod';
    record(`server/stdio/cold-start-to-bare/${names[name]}`, ratios(cold, 'milliseconds', name, floor));
    const calls = (results) => `${ratio(results, 'perSecond', name)} · ${ratio(results, 'cpu', name)}`;
    const start = valuesOf(cold, name, 'milliseconds');
    const started = `${median(start).toFixed(0)} (${Math.min(...start).toFixed(0)}) · ${ratio(cold, 'milliseconds', name)}`;
    return [name, [calls(one), calls(many), started]];
  });
  return table(['1 in flight', '32 in flight', 'cold start'], rows);
}
