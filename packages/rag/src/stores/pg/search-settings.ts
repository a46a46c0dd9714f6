import type { QueryParams } from '../../store/vector-store.js';
import { candidatesPerResult, type SearchSetting } from './nearest-sql.js';
import type { OpenIndex } from './pg-index.js';
import { requireInteger } from './sql-text.js';

export interface PgQueryParams extends QueryParams {
  /** Only results with a score above this. */
  minScore?: number;
  /**
   * Candidates that a search through an HNSW index keeps, 1 to 1,000: more find more, and take longer. Default four per result, at
   * least 40.
   */
  ef?: number;
  /** Lists that a search through an IVFFlat index visits. Default: the square root of their number. */
  probes?: number;
  /** Compares all vectors: slower, and nothing is missed. Default `false`. */
  exact?: boolean;
  /** Another place for `ef` and `probes`. */
  options?: { ef?: number; probes?: number };
}

/** What pgvector keeps by itself. */
const defaultEf = 40;
const largestEf = 1000;

/**
 * What a search through the index needs beyond the defaults of the database.
 *
 * @throws `VECTOR_ARGUMENT_INVALID`
 */
export function searchSettings(
  index: OpenIndex,
  { options, ...params }: Pick<PgQueryParams, 'ef' | 'probes' | 'options'>,
  { hasFilter, wanted }: { hasFilter: boolean; wanted: number },
): SearchSetting[] {
  const ef = optional('ef', params.ef ?? options?.ef, largestEf);
  const probes = optional('probes', params.probes ?? options?.probes, 32_768);
  if (index.type === 'flat') return [];
  const settings: SearchSetting[] = [];
  if (index.type === 'hnsw') {
    const kept = ef ?? Math.min(largestEf, Math.max(defaultEf, wanted * candidatesPerResult));
    if (ef !== undefined || kept !== defaultEf) settings.push(['hnsw.ef_search', kept]);
    // The order is put right outside, and this way fewer rows are thrown away on the way.
    if (index.extension.scansOn && (hasFilter || wanted * candidatesPerResult > kept))
      settings.push(['hnsw.iterative_scan', 'relaxed_order']);
  } else {
    settings.push(['ivfflat.probes', probes ?? Math.ceil(Math.sqrt(index.config['lists'] ?? 1))]);
    if (index.extension.scansOn) settings.push(['ivfflat.iterative_scan', 'relaxed_order']);
  }
  return settings;
}

function optional(name: string, value: number | undefined, largest: number): number | undefined {
  return value === undefined ? undefined : requireInteger(name, value, 1, largest);
}
