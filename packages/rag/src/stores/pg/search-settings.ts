import type { QueryParams } from '../../store/vector-store.js';
import { requireInteger } from './create-index.js';
import { candidatesPerResult } from './nearest-sql.js';
import type { OpenIndex } from './pg-index.js';

export interface PgQueryParams extends QueryParams {
  /** Only results with a score above this. */
  minScore?: number;
  /** Candidates that a search through an HNSW index keeps, 1 to 1,000: more find more, and take longer. Default 40. */
  ef?: number;
  /** Lists that a search through an IVFFlat index visits. Default: the square root of their number. */
  probes?: number;
  /** Compares all vectors: slower, and nothing is missed. Default `false`. */
  exact?: boolean;
  /** Another place for `ef` and `probes`. */
  options?: { ef?: number; probes?: number };
}

const defaultEf = 40;

/** What a search through the index needs; nothing where the defaults do, which saves two round trips. */
export function searchSettings(
  index: OpenIndex,
  { filter, options, ...params }: PgQueryParams,
  topK: number,
): string[] {
  const ef = params.ef ?? options?.ef;
  const probes = params.probes ?? options?.probes;
  const settings: string[] = [];
  if (ef !== undefined) settings.push(`SET LOCAL hnsw.ef_search = ${requireInteger('ef', ef, 1, 1000)}`);
  if (probes !== undefined) settings.push(`SET LOCAL ivfflat.probes = ${requireInteger('probes', probes, 1, 32_768)}`);
  if (index.type === 'flat') return [];
  if (index.type === 'ivfflat' && probes === undefined)
    settings.push(`SET LOCAL ivfflat.probes = ${Math.ceil(Math.sqrt(index.config['lists'] ?? 1))}`);
  const hasFilter = filter !== undefined && filter !== null;
  const needsMore = hasFilter || topK * candidatesPerResult > (ef ?? defaultEf);
  if (index.extension.scansOn && needsMore) {
    settings.push(
      index.type === 'hnsw'
        ? 'SET LOCAL hnsw.iterative_scan = strict_order'
        : 'SET LOCAL ivfflat.iterative_scan = relaxed_order',
    );
  }
  // Compiling the condition of a filter takes longer than the search.
  if (hasFilter) settings.push('SET LOCAL jit = off');
  return settings;
}
