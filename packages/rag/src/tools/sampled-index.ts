import { hiddenKeys } from '../document/metadata-keys.js';
import { bothFilters } from '../filter/index.js';
import { isScalar } from '../store/scope.js';
import { requireScope, type ScopedRead } from '../store/trusted-filter.js';
import type { VectorFilter, VectorMetadata, VectorRecord } from '../store/index.js';

/** Number of records that are read to find fields, types and values. */
const sampleSize = 1000;
const maxValues = 20;
const maxDepth = 4;
/** Longer names and values are not shown to a model. */
export const longestShown = 60;

/** Types and values of a metadata field. */
export interface SampledField {
  readonly types: Set<string>;
  readonly counts: Map<string | number | boolean, number>;
}

/** The records of an index that the application allows in one call. */
export class SampledIndex implements ScopedRead {
  readonly store: ScopedRead['store'];
  readonly read: ScopedRead['read'];
  readonly scope: ScopedRead['scope'];
  #fields: Promise<Map<string, SampledField>> | undefined;

  constructor({ store, read, scope }: ScopedRead) {
    this.store = store;
    this.read = read;
    this.scope = scope;
  }

  /** Returns the metadata fields of the first records, by name. They are read once. @throws `QUERY_SCOPE_MISSING` */
  fields(): Promise<Map<string, SampledField>> {
    return (this.#fields ??= this.#scan(undefined, sampleSize).then((records) => {
      const sample = new Map<string, SampledField>();
      for (const { metadata } of records) addFields(sample, metadata, '');
      return sample;
    }));
  }

  /** Whether a record matches a filter. @throws `QUERY_SCOPE_MISSING` */
  async hasMatch(filter: VectorFilter): Promise<boolean> {
    return (await this.#scan(filter, 1)).length > 0;
  }

  async #scan(filter: VectorFilter, limit: number): Promise<VectorRecord[]> {
    const { records } = await this.store.listVectors({
      ...this.read,
      filter: bothFilters(this.read.filter, filter),
      limit,
    });
    requireScope(this, records);
    return records;
  }
}

function addFields(sample: Map<string, SampledField>, metadata: VectorMetadata, prefix: string): void {
  for (const [key, value] of Object.entries(metadata as Record<string, unknown>)) {
    if ((prefix === '' && (hiddenKeys.has(key) || key === 'text')) || key.startsWith('$') || key.includes('.'))
      continue;
    const name = prefix + key;
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (isScalar(item)) {
        const field = sample.get(name) ?? { types: new Set(), counts: new Map() };
        sample.set(name, field);
        field.types.add(typeof item);
        field.counts.set(item, (field.counts.get(item) ?? 0) + 1);
      } else if (typeof item === 'object' && item !== null && prefix.split('.').length < maxDepth) {
        addFields(sample, item, `${name}.`);
      }
    }
  }
}

/** Returns the frequent values of a field as a sentence; empty if there are none. */
export function describeValues(field: SampledField | undefined): string {
  const frequent = [...(field?.counts ?? [])]
    .filter(([value]) => String(value).length <= longestShown)
    .toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, maxValues)
    .map(([value]) => JSON.stringify(value));
  return frequent.length === 0 ? '' : ` Values: ${frequent.join(', ')}.`;
}
