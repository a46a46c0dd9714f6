import { record } from '../../record.mjs';
import { inTurn, median, ratiosOf, withSpread } from '../../statistics.mjs';
import { table } from '../report.mjs';
import { names } from '../systems.mjs';
import { measure } from './http-calls.mjs';

/** `[row, system, mode]`. The first two rows are the bases of the ratios. */
const rows = [
  ['sdk1', 'sdk1', 'stateless'],
  ['**Quiver**, `startHTTP()`', 'quiver', 'handler'],
  ['**Quiver**, `listen()`', 'quiver', 'stateless'],
  ['**Quiver**, static token', 'quiver', 'static'],
  ['**Quiver**, JWT (ES256)', 'quiver', 'jwt'],
  ['**Quiver**, rate limit, time limit and audit', 'quiver', 'middleware'],
];

/** Text after the name of another library, by mode. */
const suffixes = { stateless: '', static: ', static token', jwt: ', JWT (ES256)' };

function rowsOf(anchors) {
  return Object.entries(anchors).flatMap(([name, { modes }]) =>
    Object.entries(suffixes)
      .filter(([mode]) => modes.includes(mode))
      .map(([mode, suffix]) => [`${names[name]}${suffix}`, name, mode]),
  );
}

/** Measures the CPU time per call with a static token and a JWT by the option `authenticate`, with middleware, and without both. */
export async function operation({ share, client, anchors, rounds, seconds }) {
  const measured = [...rows, ...rowsOf(anchors)];
  const servers = [];
  for (const [, system, mode] of measured) servers.push(await share(system, mode));
  const cpu = await inTurn(servers, rounds, async (server) => (await measure({ client, server, seconds })).cpu);
  for (const [index, [row]] of rows.entries())
    if (index !== 1) record(`server/operation/cpu-to-startHTTP/${row}`, ratiosOf(cpu[index], cpu[1]));
  const ratio = (index, base, digits) => withSpread(ratiosOf(cpu[index], cpu[base]), digits);
  const cells = measured.map(([row], index) => [
    row,
    [median(cpu[index]).toFixed(1), ratio(index, 0, 3), ratio(index, 1)],
  ]);
  return table(['CPU µs per call', 'to SDK 1', 'to `startHTTP()`'], cells);
}
