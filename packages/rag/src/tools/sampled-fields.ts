import { hiddenKeys } from '../document/metadata-keys.js';
import { bothFilters } from '../filter/index.js';
import type { IndexRead } from '../store/index-read.js';
import { isScalar } from '../store/scope.js';
import type { VectorFilter, VectorMetadata, VectorStore } from '../store/index.js';

/** An index as a call may read it. */
export interface FilteredIndex {
  readonly store: VectorStore;
  /** The records that the application allows. */
  readonly allowed: IndexRead;
}

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

/** Returns the metadata fields of the first records that the application allows, by name. */
export async function sampleFields(index: FilteredIndex): Promise<Map<string, SampledField>> {
  const { records } = await scan(index, undefined, sampleSize);
  const sample = new Map<string, SampledField>();
  for (const { metadata } of records) addFields(sample, metadata, '');
  return sample;
}

function scan({ store, allowed }: FilteredIndex, filter: VectorFilter, limit: number): ReturnType<VectorStore['scan']> {
  return store.scan({ ...allowed, filter: bothFilters(allowed.filter, filter), limit });
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

/** Whether a record that the application allows matches a filter. */
export async function hasMatch(index: FilteredIndex, filter: VectorFilter): Promise<boolean> {
  const { records } = await scan(index, filter, 1);
  return records.length > 0;
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
