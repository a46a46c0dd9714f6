import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFilter } from '../../filter/index.js';
import { SqlParameters } from '../sql-filter.js';
import { describeFilters } from '@quiver/devtools/stores';
import { filterToSql } from './filter-to-sql.js';
import { PgVector } from './index.js';
import { databasesForTests } from './open-stores.fixture.js';

for (const database of databasesForTests().databases) {
  describeFilters(
    `PgVector on ${database.name}`,
    async () => new PgVector(await database.open()),
    (store) => store.close(),
  );
}

describe('a filter as SQL', () => {
  // F01 F02
  it('has the same text for all names and values', () => {
    const text = (field: string, value: string): string =>
      filterToSql(
        parseFilter({ [field]: { $eq: value, $gt: `${value}>`, $contains: `${value}c`, $in: [value] } }),
        new SqlParameters(),
      ).sql;
    const plain = text('field', 'value');
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (field, value) => {
        fc.pre(!/[.$\0]|^(?:__proto__|constructor|prototype|0|[1-9]\d*)$/.test(field) && !value.includes('\0'));
        fc.pre(field !== `${value}>` && field !== `${value}c`.toLowerCase());
        expect(text(field, value).replaceAll(/\$\d+/g, '?')).toBe(plain.replaceAll(/\$\d+/g, '?'));
      }),
    );
  });

  it.each(['a\0b', '\ud800'])('refuses text that PostgreSQL cannot hold: %j', (value) => {
    const refused = expect.objectContaining({ code: 'FILTER_NOT_SUPPORTED' });
    expect(() => filterToSql(parseFilter({ a: value }), new SqlParameters())).toThrow(refused);
    expect(() => filterToSql(parseFilter({ [value]: 1 }), new SqlParameters())).toThrow(refused);
  });
});
