// Two tenants in one database: first with a schema each, then in one table with a filter. Fails if a tenant sees rows of the other.
import { isDeepStrictEqual } from 'node:util';
import { RequestContext } from '@quiver/core/request-context';
import { connect } from './connect.ts';
import { filterPerTenant } from './filter-per-tenant.ts';
import { schemaPerTenant } from './schema-per-tenant.ts';

const question = { queryText: 'How many days of holiday do we have?', topK: 10 };
const prefix = `example_${process.pid}_`;

const connection = await connect(process.env['QUIVER_POSTGRES_URL']);
console.log(`Database   ${connection.description}`);

console.log('\nA schema for each tenant');
const schemas = schemaPerTenant(connection.options, prefix);
await schemas.store('acme', { 'holidays.md': 'At Acme, every employee has 30 days of holiday.' });
await schemas.store('globex', { 'holidays.md': 'At Globex, every employee has 25 days of holiday.' });
for (const tenantId of ['acme', 'globex']) {
  const requestContext = new RequestContext([['tenantId', tenantId]]);
  const { sources } = await schemas.tool.execute(question, { requestContext, onFailure: 'throw' });
  print(tenantId, sources);
  requireOnly(tenantId, sources);
}
await requireFailure('a request without a tenant', schemas.tool.execute(question, {}));
const forged = new RequestContext([['tenantId', 'acme"; DROP SCHEMA public; --']]);
await requireFailure('a forged tenant', schemas.tool.execute(question, { requestContext: forged }));

console.log('\nOne table, a filter for each tenant');
const rows = await filterPerTenant(connection.options, `${prefix}shared`);
await rows.store('acme', { 'office.md': 'Acme closes in August.', 'holidays.md': 'Acme gives 30 days of holiday.' });
await rows.store('globex', { 'holidays.md': 'Globex gives 25 days of holiday.', 'old.md': 'Globex moved in 2019.' });
const removed = await rows.remove('globex', ['old.md', 'office.md']);
if (removed !== 1) throw new Error(`${removed} rows were deleted instead of one.`);
const { unchanged } = await rows.store('acme', {
  'office.md': 'Acme closes in August.',
  'holidays.md': 'Acme gives 30 days of holiday.',
});
if (unchanged !== 2) throw new Error(`${unchanged} rows of acme were unchanged instead of two.`);
for (const tenantId of ['acme', 'globex']) {
  const requestContext = new RequestContext([['filter', { tenant: tenantId }]]);
  // Filters with which a model could try to read all rows.
  for (const filter of [
    undefined,
    { tenant: { $exists: true } },
    { $or: [{ tenant: 'acme' }, { tenant: 'globex' }] },
  ]) {
    const input = filter === undefined ? question : { ...question, filter };
    const { sources } = await rows.tool.execute(input, { requestContext, onFailure: 'throw' });
    if (filter === undefined) print(tenantId, sources);
    requireOnly(tenantId, sources);
  }
}
const unknown = new RequestContext([['filter', { tenant: undefined }]]);
await requireFailure('a tenant that could not be determined', rows.tool.execute(question, { requestContext: unknown }));

for (const schema of ['acme', 'globex', 'shared']) await dropSchema(`${prefix}${schema}`);
await connection.close();
console.log('\nNo tenant saw rows of the other tenant.');

function print(tenantId: string, sources: readonly { document: string }[]): void {
  for (const { document } of sources) console.log(`${tenantId.padEnd(10)} ${document}`);
}

function requireOnly(tenantId: string, sources: readonly { document: string }[]): void {
  const names = new Set(sources.map(({ document }) => /acme|globex/i.exec(document)?.[0].toLowerCase()));
  if (!isDeepStrictEqual([...names], [tenantId])) throw new Error(`${tenantId} received rows of ${[...names].join()}.`);
}

async function requireFailure(what: string, call: Promise<unknown>): Promise<void> {
  const answered = await call.then(
    () => true,
    (error: unknown) => console.log(`rejected   ${what}: ${error instanceof Error ? error.message : String(error)}`),
  );
  if (answered === true) throw new Error(`${what} was not rejected.`);
}

async function dropSchema(name: string): Promise<void> {
  const { pool, pglite } = connection.options;
  await (pool ?? pglite)?.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`);
}
