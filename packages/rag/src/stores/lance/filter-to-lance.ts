import type { Filter } from '../../filter/index.js';
import {
  type ConditionLanguage,
  equalityConditions,
  type EqualityPart,
  toEqualityPart,
} from '../../store/conditions.js';
import type { VectorMetadata } from '../../store/vector-store.js';

/**
 * Returns the equality conditions that metadata satisfy, each in a line. Metadata have any shape, and columns of LanceDB have one. A list
 * of texts instead takes a query with a filter twice the time.
 */
export function conditionLines(metadata: VectorMetadata): string {
  return ['', ...equalityConditions(metadata), ''].join('\n');
}

/** A text of SQL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const sql: ConditionLanguage<string> = {
  any: (texts) =>
    texts.length === 0
      ? 'false'
      : `(${texts.map((text) => `contains(conditions, ${quote(`\n${text}\n`)})`).join(' OR ')})`,
  and: (parts) => `(${parts.join(' AND ')})`,
  or: (parts) => `(${parts.join(' OR ')})`,
};

export function filterToLance(filter: Filter | undefined): EqualityPart<string> {
  return toEqualityPart(filter, sql);
}
