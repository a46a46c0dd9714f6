// Prints the microseconds of one tool call: two numbers in, their sum out, both validated by zod.
import { z } from 'zod';

const { createTool } = await import(process.argv[2]);
const add = createTool({
  id: 'add',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

async function callTimes(count) {
  for (let index = 0; index < count; index += 1) {
    const { sum } = await add.execute({ a: index, b: 1 }, {});
    if (sum !== index + 1) throw new Error(`The tool returned a wrong sum: ${sum}`);
  }
}

await callTimes(20_000);
const count = 100_000;
const started = performance.now();
await callTimes(count);
console.log(((performance.now() - started) * 1000) / count);
