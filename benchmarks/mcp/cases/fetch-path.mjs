import { median, ratiosOf, withSpread } from '../../statistics.mjs';
import { measure, warmUp } from './http-calls.mjs';

const calls = 20_000;

/** Compares `fetch()` without a network, including creating the `Request` and reading the `Response`, with `node:http`. */
export async function fetchPath({ start, client, rounds, seconds }) {
  const web = await start('quiver', 'fetch');
  const node = await start('quiver', 'stateless');
  await web.run({ fetch: calls });
  await warmUp({ client, server: node, mode: 'stateless', tools: ['echo'] });
  const cpu = { web: [], node: [] };
  for (let round = 0; round < rounds; round += 1) {
    cpu.web.push((await web.run({ fetch: calls })).fetched);
    const { cpu: used } = await measure({
      client,
      server: node,
      mode: 'stateless',
      tool: 'echo',
      inFlight: 16,
      seconds,
    });
    cpu.node.push(used);
  }
  web.stop();
  node.stop();
  return (
    `**\`fetch()\`** without a network costs ${median(cpu.web).toFixed(1)} µs of CPU per call, creating the \`Request\` and reading ` +
    `the \`Response\` included; the same call over \`node:http\`, socket included, ${median(cpu.node).toFixed(1)} µs ` +
    `(ratio within a round ${withSpread(ratiosOf(cpu.web, cpu.node))}).`
  );
}
