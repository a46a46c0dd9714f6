import { parseFilter, type Filter } from '../filter/index.js';
import type { VectorFilter } from './vector-store.js';

/** @throws `FILTER_INVALID` */
export function toFilter(filter: VectorFilter): Filter | undefined {
  return filter === undefined || filter === null ? undefined : parseFilter(filter);
}
