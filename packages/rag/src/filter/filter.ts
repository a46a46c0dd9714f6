import { QuiverError } from '@quiver/core';

/** Value that a field is compared with. Dates are ISO 8601 strings here. */
export type FilterScalar = string | number | boolean | null;

/** Keys from the outside in. Empty inside `element` where the element itself is meant. */
export type FieldPath = readonly string[];

/** Order within one type: numbers by size, strings by code points. Values of another type never match. */
export type FilterOrder = 'gt' | 'gte' | 'lt' | 'lte';

/**
 * A filter after it was checked: few kinds of nodes, deeply frozen. Every operator of the language has been rewritten to these,
 * for example `$ne` to `not` of `equal`; an empty `and` is always true, an empty `or` never.
 *
 * Where a field holds an array, `equal`, `order`, `in`, `regex` and `contains` are true if they are for one element.
 */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  /** A true negation: also true where the field is missing. */
  | { readonly kind: 'not'; readonly filter: Filter }
  /** `null` equals null and missing. */
  | { readonly kind: 'equal'; readonly path: FieldPath; readonly value: FilterScalar }
  | { readonly kind: 'in'; readonly path: FieldPath; readonly values: readonly FilterScalar[] }
  | { readonly kind: 'order'; readonly path: FieldPath; readonly order: FilterOrder; readonly value: string | number }
  /** The key exists, with any value. */
  | { readonly kind: 'exists'; readonly path: FieldPath }
  | { readonly kind: 'regex'; readonly path: FieldPath; readonly pattern: string; readonly flags: string }
  /** A string that has `value` as a part, in upper or lower case, or an array that has it as an element. */
  | { readonly kind: 'contains'; readonly path: FieldPath; readonly value: FilterScalar }
  /** An array of so many elements. */
  | { readonly kind: 'size'; readonly path: FieldPath; readonly size: number }
  /** An array with one element that satisfies the whole filter, whose paths start at the element. */
  | { readonly kind: 'element'; readonly path: FieldPath; readonly filter: Filter };

/** @param path - where in the filter, for example `$and[1].price.$gt`; empty for the root */
export function filterError(path: string, message: string, cause?: unknown): QuiverError {
  const where = path === '' ? 'the filter' : `the filter at ${path}`;
  return new QuiverError('FILTER_INVALID', `${message.replace(/\.$/, '')} (in ${where}).`, {
    cause,
    details: { path },
  });
}

export type FieldType = NonNullable<FilterField['type']>;

/** Types of fields. */
export const fieldTypes: readonly FieldType[] = ['string', 'number', 'boolean', 'date'];

/** A metadata field that a filter may use. */
export interface FilterField {
  /** Meaning of the field, for the model. Default: its name alone. */
  description?: string;
  /** Type of its values; `date` is a string in ISO 8601. Default: any. */
  type?: 'string' | 'number' | 'boolean' | 'date';
  /** Values that occur, if they are few. Others are rejected. */
  values?: readonly FilterScalar[];
}
