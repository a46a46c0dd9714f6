import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LocalVector } from '../stores/local/index.js';
import type { FilterFields } from './model-filter.js';
import { callTool, idsFoundBy, inContext } from './call-tool.fixture.js';
import { createVectorQueryTool, type VectorQueryTool } from './vector-query-tool.js';

const indexName = 'reports';
let store: LocalVector;
beforeEach(async () => {
  store = new LocalVector();
  await store.createIndex({ indexName, dimension: 1 });
  const reports = [
    { year: 2019, team: 'Red', tags: ['a', 'b'], tenant: 'x', isDraft: true },
    { year: 2020, team: 'Blue', tags: ['b'], tenant: 'x', isDraft: false },
    { year: 2024, team: 'Blue', born: { year: 1990 }, tenant: 'x', isDraft: false },
    { year: 1900, team: 'Secret', hidden: 'yes', tenant: 'y', isDraft: false },
  ];
  await store.upsert({
    indexName,
    ids: reports.map(({ year }) => `${year}`),
    vectors: reports.map(() => [1]),
    documents: reports.map(({ year }) => `Report of ${year}`),
    metadata: reports.map((report) => ({ ...report, embedder: 'e', startIndex: 0 })),
  });
});

const typed: FilterFields = {
  year: { type: 'number', description: 'year of the report' },
  team: { description: 'team', values: ['Red', 'Blue'] },
  isDraft: { type: 'boolean', description: 'whether it is a draft' },
  'born.year': { type: 'number', description: 'birth' },
};
const toolOf = (filterFields: FilterFields | undefined, scope = { tenant: 'x' }): VectorQueryTool =>
  createVectorQueryTool({
    vectorStore: store,
    indexName,
    model: { id: 'e', embed: async (texts) => texts.map(() => [1]) },
    mode: 'keyword',
    enableFilter: true,
    scope,
    ...(filterFields && { filterFields }),
  });
const idsOf = async (tool: VectorQueryTool, filter: object | string): Promise<string[]> => {
  const { sources } = await callTool(tool, { queryText: 'report', filter: filter as object });
  return sources.map(({ id }) => id).toSorted();
};
const errorOf = async (tool: VectorQueryTool, filter: object | string): Promise<string> => {
  const error: unknown = await idsOf(tool, filter).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'FILTER_INVALID' });
  return (error as Error).message;
};

describe('filters with declared fields', () => {
  it.each([
    [{ year: { gte: 2020 } }, ['2020', '2024']],
    [{ year: { '>': '2020' } }, ['2024']],
    [{ year: '2024' }, ['2024']],
    ['{"Year": {"$in": ["2019", 2024]}}', ['2019', '2024']],
    [{ year: { $in: '2019' } }, ['2019']],
    [{ team: 'blue' }, ['2020', '2024']],
    [{ team: ['red', 'BLUE'] }, ['2019', '2020', '2024']],
    [{ isDraft: 'true' }, ['2019']],
    [{ or: [{ year: '2019' }, { not: { Team: 'blue' } }] }, ['2019']],
    [{ year: { $not: { gte: '2020' } } }, ['2019']],
    [{ born: { year: 1990 } }, ['2024']],
    [{ born: { year: { gte: '1900' } } }, ['2024']],
    [{ Born: { Year: { lt: 1900 } } }, []],
    [{ or: [{ born: { year: '1990' } }, { year: '2019' }] }, ['2019', '2024']],
    [{ 'born.year': { gt: '1980' } }, ['2024']],
  ])('are corrected where only one meaning is possible: %j', async (filter, ids) => {
    expect(await idsOf(toolOf(typed), filter)).toEqual(ids);
  });

  it.each([
    [{ yaer: 2024 }, "The field 'yaer' is not declared"],
    [{ year: 'last year' }, `The value "last year" of 'year' is not a number`],
    [{ year: { $above: 2020 } }, 'Unsupported operator: $above'],
    [{ year: { above: 2020 } }, "The field 'year.above' is not declared, and 'above' is not an operator such as $gte"],
    [{ team: 'Green' }, `The value "Green" of 'team' is not one of ["Red","Blue"]`],
    ['not JSON', 'must be the JSON text of an object'],
  ])('are errors with the fields and their values otherwise: %j', async (filter, reason) => {
    const message = await errorOf(toolOf(typed), filter);
    expect(message).toContain(reason);
    expect(message).toContain('\n"year" (number): year of the report. Values: 2019, 2020, 2024.');
    expect(message).toContain('\n"team": team. One of ["Red","Blue"].');
    expect(message).not.toContain('1900');
  });

  it('need no description', async () => {
    const tool = toolOf({ year: { type: 'number' } });
    expect(await idsOf(tool, { year: '2024' })).toEqual(['2024']);
    expect(await errorOf(tool, { team: 'Red' })).toContain('\n"year" (number). Values: 2019, 2020, 2024.');
    expect(JSON.stringify(tool.inputSchema)).not.toContain('undefined');
  });

  it('take the types of described fields from the index', async () => {
    const tool = toolOf({ year: 'year of the report', team: 'team' });
    expect(await idsOf(tool, { year: '2024' })).toEqual(['2024']);
    expect(await errorOf(tool, { tenant: 'y' })).toContain('"team" (string): team. Values: "Blue", "Red".');
  });

  it('read one sample of the index in a call', async () => {
    const list = vi.spyOn(store, 'listVectors');
    const { filterHint } = await callTool(toolOf({ year: 'year of the report' }), {
      queryText: 'report',
      filter: { year: '2050' },
    });
    expect(filterHint).toContain('"year". Values: 2019, 2020, 2024.');
    expect(list.mock.calls.filter(([{ limit = 0 }]) => limit > 1)).toHaveLength(1);
  });

  it('name at most 20 frequent values, the most frequent first, and no long ones', async () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ tenant: 'z', code: index % 30, text: 'report' }));
    await store.upsert({
      indexName,
      ids: many.map((_, index) => `z${index}`),
      vectors: many.map(() => [1]),
      metadata: many.map((record, index) => ({ ...record, ...(index < 9 && { code: 7 }), note: 'n'.repeat(100) })),
    });
    const message = await errorOf(toolOf({ code: 'code', note: 'note' }, { tenant: 'z' }), { x: 1 });
    expect(message).toMatch(/"code" \(number\): code\. Values: 7(?:, \d+){19}\.\n"note" \(string\): note$/);
  });

  it('are found in the index with auto, within what the application allows', async () => {
    const tool = toolOf('auto');
    expect(await idsOf(tool, { year: { gte: '2020' }, tags: 'b' })).toEqual(['2020']);
    expect(await idsOf(tool, { 'born.year': 1990 })).toEqual(['2024']);
    const message = await errorOf(tool, { hidden: 'yes' });
    expect(message).toContain('"tags" (string). Values: "b", "a".');
    expect(message).toContain('"isDraft" (boolean). Values: false, true.');
    for (const other of ['Secret', 'embedder', 'startIndex', '1900']) expect(message).not.toContain(other);
  });

  it('of auto include a field that only a later record has', async () => {
    const many = Array.from({ length: 1100 }, (_, index) => ({ tenant: 'w', ...(index === 1099 && { rare: 1 }) }));
    await store.upsert({
      indexName,
      ids: many.map((_, index) => `w${String(index).padStart(4, '0')}`),
      vectors: many.map(() => [1]),
      documents: many.map(() => 'report'),
      metadata: many,
    });
    expect(await idsOf(toolOf('auto', { tenant: 'w' }), { rare: 1 })).toEqual(['w1099']);
    expect(await idsOf(toolOf('auto', { tenant: 'w' }), { rare: { gte: 1 } })).toEqual(['w1099']);
  });

  it('never widen the filters of the application', async () => {
    const context = inContext({ filter: { year: { $lt: 2024 } } });
    for (const filter of [{ or: [{ year: { gt: 0 } }, { team: 'Blue' }] }, { not: { year: '1' } }, {}]) {
      expect((await idsFoundBy(toolOf(typed), { queryText: 'report', filter }, context)).toSorted()).toEqual([
        '2019',
        '2020',
      ]);
    }
    await errorOf(toolOf(typed), { tenant: 'y' });
  });

  it('are described in the schema of the input, whose types accept what is corrected', () => {
    const schema = toolOf(typed).inputSchema as { properties: { filter: { description: string; properties: object } } };
    expect(schema.properties.filter.properties).toMatchObject({
      year: { description: 'number: year of the report; or an object of $eq $ne $gt $gte $lt $lte $in $nin $exists' },
    });
    expect(schema.properties.filter.description).toContain('"year" (number): year of the report');
    expect(JSON.stringify(toolOf('auto').inputSchema)).toContain('unknown field returns the fields of the index');
  });

  it('are unchanged without declared fields', async () => {
    expect(await idsOf(toolOf(undefined), { year: { gte: 2020 } })).toEqual([]);
    expect(await idsOf(toolOf(undefined), { year: { $gte: 2020 } })).toEqual(['2020', '2024']);
  });
});

describe('a filter that matches nothing', () => {
  const hintOf = async (filter: object, scope?: { tenant: string }): Promise<string | undefined> => {
    const tool = toolOf(undefined, scope);
    const output = await callTool(tool, { queryText: 'report', filter });
    if (output.sources.length === 0)
      expect(tool.toModelOutput?.(output)).toEqual({
        type: 'text',
        value: ['No passage was found.', ...(output.filterHint === undefined ? [] : [output.filterHint])].join(' '),
      });
    return output.filterHint;
  };

  it('returns the condition that no record matches, with values that occur', async () => {
    expect(await hintOf({ team: 'Blue', year: { $gt: 2030 } })).toBe(
      'The filter matches nothing: no record matches {"year":{"$gt":2030}}. The fields:\n"year". Values: 2019, 2020, 2024.',
    );
    expect(await hintOf({ $and: [{ team: 'Green' }, { $or: [{ colour: 'red' }, { tags: 'c' }] }] })).toBe(
      [
        'The filter matches nothing: no record matches {"team":"Green"}, and none {"$or":[{"colour":"red"},{"tags":"c"}]}. The fields:',
        '"team". Values: "Blue", "Red".',
        '"colour". No record has it.',
        '"tags". Values: "b", "a".',
        'The records have the fields "year", "team", "tags", "tenant", "isDraft", "born.year".',
      ].join('\n'),
    );
  });

  it('returns that no record matches all conditions', async () => {
    expect(await hintOf({ team: 'Red', year: 2024 })).toBe(
      'The filter matches nothing: records match each of its conditions, and none matches all of them. The fields:\n"team". Values: "Blue", "Red".\n"year". Values: 2019, 2020, 2024.',
    );
  });

  it('names the field that a misspelled one most likely means, and at most 20 fields', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, place) => [`field${place}`, 'x'.repeat(100)]));
    await store.upsert({ indexName, ids: ['z'], vectors: [[1]], metadata: [{ tenant: 'z', ...many }] });
    expect(await hintOf({ taem: 'Blue' })).toContain(
      '"taem". No record has it. Did you mean "team"?\nThe records have the fields "year", "team", "tags",',
    );
    const hint = await hintOf({ fild7: 1, field8: 1 }, { tenant: 'z' });
    expect(hint).toContain('"fild7". No record has it. Did you mean "field7"?\n"field8".\n');
    expect(hint).toMatch(/have the fields "tenant", "field0",(?: "field\d+",){17} "field18", and 11 more\.$/);
  });

  it('describes ten fields of a filter with a thousand', async () => {
    const $or = Array.from({ length: 900 }, (_, place) => ({ [`${'f'.repeat(60)}${place}`]: 1 }));
    expect((await hintOf({ $or }))?.match(/No record has it/g)).toHaveLength(10);
  });

  it('names no field but the declared ones', async () => {
    const output = await callTool(toolOf({ yaer: 'year' }), { queryText: 'report', filter: { yaer: 1 } });
    expect(output.filterHint).toMatch(/"yaer"\. No record has it\.$/);
  });

  it('shows nothing that the application does not allow', async () => {
    expect(await hintOf({ hidden: 'yes' })).toContain('"hidden". No record has it.');
    expect(await hintOf({ hiden: 'yes' })).not.toContain('"hidden"');
    expect(await hintOf({ team: 'Secret' })).not.toContain('"Secret".');
  });

  it('is not the reason where records match it', async () => {
    expect(await hintOf({ year: 2024 })).toBeUndefined();
    const tool = toolOf(typed);
    const output = await callTool(tool, { queryText: 'nothing', filter: { year: 2024 } });
    expect(output).toMatchObject({ sources: [], nothingFound: true });
    expect(output).not.toHaveProperty('filterHint');
  });
});
