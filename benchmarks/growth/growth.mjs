// How the CPU time of an operation grows with its load: the exponent between two sizes, one ten times the other.
//   node growth/growth.mjs [--rounds 7]
// An exponent of 0 is a constant cost, 1 a proportional one. More than .1 above the expected exponent is a defect: the program exits with 1.
// Everything runs in this process; MCP requests arrive through `fetch()` without a network.
import { loadavg } from 'node:os';
import { record } from '../record.mjs';
import { ratiosOf, table, timed } from '../statistics.mjs';
import { readFlags } from '../read-flags.mjs';
import { callsInFlight, listOfTools, messageSize, openSessions, registeredTools } from './server.mjs';
import { documentsIngested, documentsSearched, vectorsCompared } from './store.mjs';

const { rounds } = readFlags({ rounds: { type: 'string', default: '7' } });
const tolerance = 0.1;

/** `sizes` is the smaller and the larger load; `prepare` returns the operation, which runs `times` per round. */
const cases = [
  { name: 'a call, by registered tools', sizes: [100, 1000], expected: 0, times: 1000, prepare: registeredTools },
  { name: 'a list, by tools', sizes: [100, 1000], expected: 1, times: 20, prepare: listOfTools },
  { name: 'a call, by open sessions', sizes: [100, 1000], expected: 0, times: 1000, prepare: openSessions },
  { name: 'a call, by calls in flight', sizes: [16, 160], expected: 0, times: 1, prepare: callsInFlight },
  { name: 'a call, by size of its message', sizes: [1e6, 1e7], expected: 1, times: 3, prepare: messageSize },
  { name: 'a vector query, by vectors', sizes: [2000, 20_000], expected: 1, times: 20, prepare: vectorsCompared },
  { name: 'a keyword query, by documents', sizes: [500, 5000], expected: 1, times: 20, prepare: documentsSearched },
  { name: 'an ingestion, by documents', sizes: [50, 500], expected: 1, times: 1, prepare: documentsIngested },
];

console.log(`Node ${process.version}, ${rounds} rounds, load average ${loadavg()[0].toFixed(1)}\n`);
const rows = [];
const defects = [];
for (const { name, sizes, expected, times, prepare } of cases) {
  const operations = [];
  for (const size of sizes) operations.push(await prepare(size));
  const cpu = sizes.map(() => []);
  for (let round = -2; round < Number(rounds); round += 1) {
    for (const [index, { run, operationsPerRun = 1 }] of operations.entries()) {
      const measured = await timed(async () => {
        for (let time = 0; time < times; time += 1) await run();
      });
      // The first rounds warm up.
      if (round >= 0) cpu[index].push(measured.cpu / times / operationsPerRun);
    }
  }
  for (const { end } of operations) await end?.();
  const [small, large] = cpu.map((values) => Math.min(...values));
  const exponentOf = (factor) => Math.log(factor) / Math.log(sizes[1] / sizes[0]);
  const exponent = exponentOf(large / small);
  record(
    `growth/${name}/cpu-to-a tenth of the load/Quiver`,
    ratiosOf(cpu[1], cpu[0]).map((factor) => 10 ** exponentOf(factor)),
  );
  const load = sizes.map((size) => size.toLocaleString('en')).join(' → ');
  rows.push([name, load, small.toFixed(3), large.toFixed(3), exponent.toFixed(2), expected]);
  if (exponent > expected + tolerance) defects.push(`${name}: ${exponent.toFixed(2)} instead of ${expected}`);
}
console.log(table(['CPU time of', 'sizes', 'ms at the smaller', 'at the larger', 'exponent', 'expected'], rows));
for (const defect of defects) console.error(`Grows too fast: ${defect}`);
process.exit(defects.length > 0 ? 1 : 0);
