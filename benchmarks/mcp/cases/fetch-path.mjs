import { record } from '../../record.mjs';
import { inTurn, median, ratiosOf, withSpread } from '../../statistics.mjs';
import { measure } from './http-calls.mjs';

const calls = 5000;

/** Compares `fetch()` without a network, including creating the `Request` and reading the `Response`, with `node:http`. */
export async function fetchPath({ start, share, client, rounds, seconds }) {
  const web = await start('quiver', 'fetch');
  const node = await share('quiver', 'stateless');
  const run = async () => (await web.run({ fetch: calls })).fetched;
  for (let warmUp = 0; warmUp < 4; warmUp += 1) await run();
  const [ofWeb, ofNode] = await inTurn([web, node], rounds, async (server) =>
    server === web ? run() : (await measure({ client, server, seconds })).cpu,
  );
  web.stop();
  const ratios = ratiosOf(ofWeb, ofNode);
  record('server/fetch()/echo/cpu-to-node:http/Quiver', ratios);
  return (
    `**\`fetch()\`** without a network costs ${median(ofWeb).toFixed(1)} µs of CPU per call, creating the \`Request\` and reading ` +
    `the \`Response\` included; the same call over \`node:http\`, socket included, ${median(ofNode).toFixed(1)} µs ` +
    `(ratio within a round ${withSpread(ratios)}).`
  );
}
