import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isQuiverError } from '@quiver/core';
import { RequestContext } from '@quiver/core/request-context';
import { createTool, isToolFailure } from '@quiver/core/tools';
import { z } from 'zod';

const add = createTool({
  id: 'add',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  outputSchema: z.object({ sum: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

test('a tool validates its input, fills in defaults and returns its output', async () => {
  assert.deepEqual(await add.execute({ a: 2 }), { sum: 3 });
});

test('a tool returns a recognizable failure for invalid input', async () => {
  const result = await add.execute({ a: 'two' });
  assert.ok(isToolFailure(result));
  assert.match(result.message, /^Tool input validation failed for add\./);
});

test('a tool receives the request context of its caller', async () => {
  const who = createTool({
    id: 'who',
    description: 'Tells the tenant',
    execute: async (_input, { requestContext }) => requestContext.get('tenantId'),
  });
  const requestContext = new RequestContext([['tenantId', 'acme']]);
  assert.equal(await who.execute({}, { requestContext }), 'acme');
});

test('errors carry a code', () => {
  assert.throws(
    () => createTool({ id: '', description: 'x' }),
    (error) => isQuiverError(error, 'OPTIONS_INVALID'),
  );
});
