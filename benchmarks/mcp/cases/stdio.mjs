import { record } from '../../record.mjs';
import { inTurn, median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { coldStart, connect } from '../stdio.mjs';
import { names, systemsOf } from '../systems.mjs';

/**
 * Measures calls per second, the CPU time of the server per call, and the time from spawn to the `initialize` response. The cold start is
 * compared with SDK 1, and with the bare server that loads the same schema library.
 */
export async function stdio({ anchors, rounds, seconds }) {
  const systems = systemsOf('stdio', anchors).map(({ name }) => ({ name, folder: anchors[name]?.folder }));
  const connections = [];
  for (const system of systems) connections.push(await connect(system));
  for (const { load } of connections) await load(32, 0.7);
  const one = await inTurn(connections, rounds, ({ load }) => load(1, seconds));
  const many = await inTurn(connections, rounds, ({ load }) => load(32, seconds));
  for (const { stop } of connections) stop();
  const cold = await inTurn(systems, rounds + 2, async (system) => ({ milliseconds: await coldStart(system) }));
  const ratios = (results, key, index, base = 'sdk1') => {
    const valuesOf = (at) => results[at].map((result) => result[key]);
    return ratiosOf(valuesOf(index), valuesOf(systems.findIndex(({ name }) => name === base)));
  };
  const ratio = (...given) => withSpread(ratios(...given));
  const rows = systems.map(({ name }, index) => {
    for (const base of ['sdk1', 'bare'])
      for (const [inFlight, results] of Object.entries({ 1: one, 32: many }))
        record(`server/stdio/echo@${inFlight}/cpu-to-${base}/${names[name]}`, ratios(results, 'cpu', index, base));
    const floor = name === 'quiver-json' ? 'bare' : 'bare-zod';
    record(`server/stdio/cold-start-to-bare/${names[name]}`, ratios(cold, 'milliseconds', index, floor));
    record(`server/stdio/cold-start-to-sdk1/${names[name]}`, ratios(cold, 'milliseconds', index));
    const calls = (results) => `${ratio(results, 'perSecond', index)} · ${ratio(results, 'cpu', index)}`;
    const start = cold[index].map(({ milliseconds }) => milliseconds);
    const started = `${median(start).toFixed(0)} (${Math.min(...start).toFixed(0)}) · ${ratio(cold, 'milliseconds', index)}`;
    return [name, [calls(one), calls(many), started]];
  });
  return table(['1 in flight', '32 in flight', 'cold start'], rows);
}
